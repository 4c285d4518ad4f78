#if Engines
import AsyncHTTPClient
import BackplaneExchange
import BackplaneNetwork
import Glibc
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

extension HTTPFailure {
    init(_ error: any Error) {
        switch error {
        case let error as HTTPFailure: self = error
        case let error as NIOConnectionError:
            self = error.connectionErrors.first.map { HTTPFailure($0.error) } ?? .hostUnknown
        case let error as IOError:
            self =
                switch error.errnoCode {
                case ECONNREFUSED: .notConnected
                case ECONNRESET, EPIPE: .closed
                case ETIMEDOUT: .connectionTimedOut
                default: .other(String(cString: strerror(error.errnoCode)))
                }
        case let error as ChannelError: self = HTTPFailure(error)
        case let error as HTTPClientError: self = HTTPFailure(error)
        case let error as NIOHTTP2Errors.StreamClosed where !Self.isUnprocessed(error):
            self = .other("the server reset the stream with the HTTP/2 error \(error.errorCode.networkCode)")
        case is NIOHTTP2Errors.StreamClosed, is NIOHTTP2Errors.CreatedStreamAfterGoaway: self = .closed
        case HTTPParserError.invalidEOFState: self = .closed
        case let error as HTTPParserError: self = .malformed("\(error)")
        case NIOSSLError.handshakeFailed(.sslError(let errors)):
            self = .insecure(errors.first?.word ?? "the handshake failed")
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: self = .insecure("\(error)")
        default: self = .other("\(error)")
        }
    }

    /// Returns whether an error indicates that the connection was closed before any byte of a response had arrived.
    ///
    /// A response that is interrupted within its head is an error of the parser.
    static func isClosedBeforeResponse(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as IOError: error.errnoCode == ECONNRESET || error.errnoCode == EPIPE
        case ChannelError.eof, ChannelError.ioOnClosedChannel, ChannelError.inputClosed, ChannelError.outputClosed: true
        default: false
        }
    }

    /// Returns whether an error indicates that an HTTP/2 server has not processed the request (RFC 9113, section 8.7).
    ///
    /// Either the server refused the stream, or it was closing the connection. In the latter case, the stream was
    /// beyond the last one that the server processes, which the library reports as cancelled, or had not begun.
    static func isUnprocessed(_ error: any Error) -> Bool {
        switch error {
        case let error as NIOHTTP2Errors.StreamClosed: [.cancel, .refusedStream].contains(error.errorCode)
        case is NIOHTTP2Errors.CreatedStreamAfterGoaway: true
        case let error as HTTPClientError: error == .cancelled
        default: false
        }
    }

    private init(_ error: ChannelError) {
        self =
            switch error {
            case .connectTimeout: .connectionTimedOut
            case .eof, .ioOnClosedChannel, .inputClosed, .outputClosed, .alreadyClosed: .closed
            default: .other("\(error)")
            }
    }

    private init(_ error: HTTPClientError) {
        self =
            switch error {
            case .connectTimeout, .getConnectionFromPoolTimeout: .connectionTimedOut
            case .tlsHandshakeTimeout: .insecure("the handshake took too long")
            case .remoteConnectionClosed, .uncleanShutdown: .closed
            case .alreadyShutdown, .cancelled: .shutDown
            default: .other(error.shortDescription)
            }
    }
}

extension BoringSSLInternalError {
    /// The error's reason in words, such as `certificate verify failed`.
    ///
    /// The reason is taken from a description of the form
    /// `Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at FILE:LINE`.
    fileprivate var word: String {
        let text = description
        let code = text[..<(text.firstRange(of: " at ")?.lowerBound ?? text.endIndex)]
        return (code.split(separator: ":").last ?? code).lowercased().replacing("_", with: " ")
    }
}
#endif
