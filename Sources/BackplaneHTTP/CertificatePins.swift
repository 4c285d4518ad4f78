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
/// AsyncHTTPClient gives no access to the handshake, but waits for this check before it sends a request on the
/// connection. By then, the chain and the host's name have been verified. Only the server's own certificate is
/// available, not the rest of the chain.
final class PinCheck: Sendable {
    private let keys: Set<CertificatePin>
    private let reportsOnly: Bool
    /// The reason why no key can be compared, if failures are only reported.
    private let defect: String?
    /// The failures of connections that are only to be reported, and have not been reported yet.
    private let unreported = Mutex<[HTTPFailure]>([])

    /// Creates the check of settings; `nil` if they have no pins.
    ///
    /// - Throws: `HTTPFailure.insecure` if a certificate file cannot be read, or there is no backup pin, unless
    ///   failures are only reported.
    init?(_ settings: TLSSettings?) throws(HTTPFailure) {
        guard let settings, !settings.pins.isEmpty else { return nil }
        var keys: Set<CertificatePin> = [], defect: String?
        do throws(BackplaneError) { keys = try settings.pinnedKeys() } catch { defect = error.message }
        if let defect, !settings.reportsOnly { throw .insecure(defect) }
        (self.keys, self.defect, reportsOnly) = (keys, defect, settings.reportsOnly)
    }

    /// Checks the server of a connection, and closes the connection if it has none of the keys.
    ///
    /// The library must receive the error before the end of the connection.
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit { [self] in
            let failure = failure(channel.pipeline.syncOperations)
            guard let failure else { return }
            if reportsOnly { return unreported.withLock { $0.append(failure) } }
            channel.eventLoop.execute { channel.close(promise: nil) }
            throw failure
        }
    }

    private func failure(_ pipeline: ChannelPipeline.SynchronousOperations) -> HTTPFailure? {
        func incomparable(_ why: String) -> HTTPFailure { reportsOnly ? .pinsNotCompared(why) : .insecure(why) }
        if let defect { return incomparable(defect) }
        guard let certificate = try? pipeline.nioSSL_peerCertificate(), let key = CertificatePin(of: certificate) else {
            return incomparable("the server has no certificate with a key that can be compared with the pins")
        }
        return keys.contains(key) ? nil : .pinMismatch("\(key)", isReported: reportsOnly)
    }

    /// Returns each failure once, if failures are only reported.
    func takeFailures() -> [HTTPFailure] {
        unreported.withLock { failures in
            defer { failures = [] }
            return failures
        }
    }
}

extension CertificatePin {
    fileprivate init?(of certificate: NIOSSLCertificate) {
        guard let bytes = try? certificate.toDERBytes() else { return nil }
        self.init(certificate: bytes)
    }
}

extension AsyncHTTPClientExecutor {
    /// Returns the pins of the certificates that a server sends, beginning with its own, without sending a request.
    ///
    /// The handshake ends with them, before anything is verified, so the pins must be compared with another source. The
    /// connection uses no proxy.
    ///
    /// - Parameter timeout: The time limit for the connection, and again for the handshake.
    /// - Throws: `network.refused` if the URL is not an `https:` URL; `network.failed` or `network.insecure` if there
    ///   is no server, or the server has no certificates; `CancellationError`.
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
