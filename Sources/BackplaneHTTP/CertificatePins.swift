#if Engines
import Backplane
import BackplaneExchange
public import BackplaneNetwork
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// The check of a server's key against the pins of a host, once for each connection.
///
/// AsyncHTTPClient lets nobody take part in the handshake, but it waits for this check before it sends a request on the
/// connection. The chain and the host's name have been verified by then. Of the chain, only the server's own
/// certificate is available.
final class PinCheck: Sendable {
    private let keys: Set<CertificatePin>
    private let reportsOnly: Bool
    /// The key of the last connection, if it is not pinned and has not been reported yet.
    private let mismatch = Mutex<CertificatePin?>(nil)

    /// Creates the check of settings; `nil` if they have no pins.
    ///
    /// - Throws: `HTTPFailure.insecure` if a certificate file cannot be read, or there is no backup pin.
    init?(_ settings: TLSSettings?) throws(HTTPFailure) {
        guard let settings, !settings.pins.isEmpty else { return nil }
        var keys: Set<CertificatePin> = []
        for pin in settings.pins { keys.insert(try pin.read()) }
        guard keys.count > 1 else {
            throw .insecure("there is one pinned key; add the pin of a backup key, with which it can be replaced")
        }
        (self.keys, reportsOnly) = (keys, settings.reportsOnly)
    }

    /// Checks the server of a connection, and closes the connection if it has none of the keys.
    ///
    /// The library must learn of the error before it learns of the end of the connection.
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit { [self] in
            do {
                try verify(channel.pipeline.syncOperations)
            } catch {
                channel.eventLoop.execute { channel.close(promise: nil) }
                throw error
            }
        }
    }

    private func verify(_ pipeline: ChannelPipeline.SynchronousOperations) throws {
        guard let certificate = try? pipeline.nioSSL_peerCertificate(), let key = CertificatePin(of: certificate) else {
            throw HTTPFailure.insecure("the server has no certificate with a key that can be compared with the pins")
        }
        let isPinned = keys.contains(key)
        if reportsOnly {
            mismatch.withLock { $0 = isPinned ? nil : key }
        } else if !isPinned {
            throw HTTPFailure.pinMismatch("\(key)", isReported: false)
        }
    }

    /// Returns the mismatch of the last connection once, if mismatches are only reported.
    func takeMismatch() -> HTTPFailure? {
        mismatch.withLock { $0.take() }.map { .pinMismatch("\($0)", isReported: true) }
    }
}

extension CertificatePin {
    /// Creates the pin of a certificate's key; returns `nil` if its encoding is not that of RFC 5280, section 4.1.
    ///
    /// The key is hashed as the certificate has it, whether or not the library knows its algorithm.
    init?(of certificate: NIOSSLCertificate) {
        guard let bytes = try? certificate.toDERBytes() else { return nil }
        var outer = DERReader(bytes[...])
        guard let whole = outer.next() else { return nil }
        outer = DERReader(whole.content)
        guard let signed = outer.next() else { return nil }
        var fields = DERReader(signed.content)
        guard var field = fields.next() else { return nil }
        if field.tag == 0xa0 {  // a version, which precedes the serial number
            guard let serial = fields.next() else { return nil }
            field = serial
        }
        for _ in 0..<5 {  // the algorithm of the signature, the issuer, the validity, the subject, and the key
            guard let next = fields.next() else { return nil }
            field = next
        }
        self = .key(sha256: ContentDigest.sha256(of: Array(field.bytes)))
    }

    /// Returns the hash of the key, for a file that of its first certificate.
    fileprivate func read() throws(HTTPFailure) -> CertificatePin {
        guard let path else { return self }
        guard let certificate = try? NIOSSLCertificate.fromPEMFile(path).first, let pin = Self(of: certificate) else {
            throw .insecure("the certificate `\(path)` of a pin cannot be read; expected PEM")
        }
        return pin
    }
}

/// A reader of consecutive elements in the Distinguished Encoding Rules (X.690).
private struct DERReader {
    struct Element {
        var tag: UInt8
        var content: ArraySlice<UInt8>
        /// The tag, the length and the content.
        var bytes: ArraySlice<UInt8>
    }
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Reads the next element; returns `nil` if there is no complete one.
    mutating func next() -> Element? {
        guard rest.count >= 2 else { return nil }
        let start = rest.startIndex
        var content = start + 2, length = Int(rest[start + 1])
        if length >= 0x80 {  // the number of bytes of the length
            let count = length - 0x80
            guard (1...4).contains(count), rest.count >= 2 + count else { return nil }
            length = rest[content..<content + count].reduce(0) { $0 << 8 | Int($1) }
            content += count
        }
        guard length <= rest.endIndex - content else { return nil }
        let end = content + length
        defer { rest = rest[end...] }
        return Element(tag: rest[start], content: rest[content..<end], bytes: rest[start..<end])
    }
}

// MARK: The pins of a server

extension AsyncHTTPClientExecutor {
    /// Returns the pins of the certificates that a server sends, beginning with its own, without sending a request.
    ///
    /// The handshake ends with them, before anything is verified, so the pins must be compared with another source. The
    /// connection uses no proxy.
    ///
    /// - Parameter timeout: The time limit for the connection, and again for the handshake.
    /// - Throws: `network.refused` if the URL is not an `https:` URL; `network.failed` or `network.insecure` if there
    ///   is no server, or one without certificates; `CancellationError`.
    public static func pins(of url: String, timeout: Duration = .seconds(10)) async throws -> [CertificatePin] {
        let request = HTTPRequest("GET", url)
        guard let origin = HTTPOrigin(url), origin.scheme == "https" else {
            throw BackplaneError(
                .networkRefused, "expected an `https:` URL, whose server has certificates", at: request.printableURL)
        }
        do {
            return try await sentCertificates(to: origin, within: TimeAmount(timeout)).compactMap {
                CertificatePin(of: $0)
            }
        } catch {
            try Task.checkCancellation()
            throw HTTPFailure(error).error(for: request)
        }
    }

    private static func sentCertificates(
        to origin: HTTPOrigin, within limit: TimeAmount
    ) async throws -> [NIOSSLCertificate] {
        let host = origin.host.hasPrefix("[") ? String(origin.host.dropFirst().dropLast()) : origin.host
        let name = (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil
        let context = try NIOSSLContext(configuration: .makeClientConfiguration())
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let certificates = loop.makePromise(of: [NIOSSLCertificate].self)
        let connection = ClientBootstrap(group: loop).connectTimeout(limit)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handshake = try NIOSSLClientHandler(
                        context: context, serverHostname: name,
                        customVerificationCallback: { sent, verified in
                            certificates.succeed(sent)
                            verified.succeed(.failed)
                        })
                    try channel.pipeline.syncOperations.addHandler(handshake)
                    try channel.pipeline.syncOperations.addHandler(HandshakeErrors(certificates))
                }
            }
            .connect(host: host, port: origin.port)
        connection.whenFailure(certificates.fail)
        connection.whenSuccess { channel in
            let late = channel.eventLoop.scheduleTask(in: limit) {
                certificates.fail(HTTPFailure.insecure("the handshake took too long"))
            }
            channel.closeFuture.whenComplete { _ in certificates.fail(HTTPFailure.closed) }
            certificates.futureResult.whenComplete { _ in
                late.cancel()
                channel.close(promise: nil)
            }
        }
        return try await withTaskCancellationHandler {
            try await certificates.futureResult.get()
        } onCancel: {
            certificates.fail(CancellationError())
        }
    }
}

/// The end of a handshake before the server has sent its certificates.
private final class HandshakeErrors: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let certificates: EventLoopPromise<[NIOSSLCertificate]>

    init(_ certificates: EventLoopPromise<[NIOSSLCertificate]>) { self.certificates = certificates }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { certificates.fail(error) }
}
#endif
