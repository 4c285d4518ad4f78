import BackplaneTestKit
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization
import TestFixtures
import Testing

/// A TLS server on a free port of 127.0.0.1, with HTTP/2 if the client offers it, otherwise HTTP/1.1.
final class SecureTestServer: Sendable {
    /// A request as the server received it.
    struct Request: Sendable {
        /// The request method as sent, such as `GET`.
        var method: String
        /// The path and query.
        var target: String
        /// The number of bytes of the body.
        var bodyCount = 0
        /// The number of the connection on which the request arrived.
        var connection: Int
    }
    /// The response to a request.
    struct Response: Sendable {
        /// The status code.
        var status = 200
        /// The header fields other than `Content-Length`.
        var headers: [(String, String)] = []
        /// The body, before repetition.
        var body: [UInt8] = []
        /// The number of times that the body is sent, each time once the client accepts more.
        var repetitions = 1
    }

    /// The port on the loopback interface, chosen by the system.
    let port: Int
    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup
    private let counts: ServerCounts

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - identity: The certificate and key.
    ///   - speaksTLS13: Whether TLS 1.3 is offered, and not only earlier versions.
    ///   - clients: The authority that must have signed the client's certificate; `nil` if none is requested.
    ///   - requestsPerConnection: The number of requests after which a connection over HTTP/2 is closed gracefully and
    ///     ignores further ones; `nil` for no limit.
    ///   - answer: A function that answers a request whose body has arrived.
    init(
        _ identity: TestIdentity, offersHTTP2: Bool = true, speaksTLS13: Bool = true,
        clients: TestIdentity? = nil, requestsPerConnection: Int? = nil,
        _ answer: @escaping @Sendable (Request) -> Response
    ) async throws {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.certificate.utf8)).map {
                .certificate($0)
            },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.key.utf8), format: .pem)))
        tls.applicationProtocols = offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
        if !speaksTLS13 { tls.maximumTLSVersion = .tlsv12 }
        if let clients {
            tls.certificateVerification = .noHostnameVerification
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(clients.certificate.utf8)))
        }
        let context = try NIOSSLContext(configuration: tls), counts = ServerCounts()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        (self.group, self.counts) = (group, counts)
        do {
            channel = try await ServerBootstrap(group: group).serverChannelOption(.backlog, value: 256)
                .childChannelInitializer { channel in
                    let number = counts.nextConnection(), limit = requestsPerConnection.map(RequestLimit.init)
                    do {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    } catch {
                        return channel.eventLoop.makeFailedFuture(error)
                    }
                    return channel.configureCommonHTTPServerPipeline { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(
                                AnswerHandler(connection: number, limit: limit, counts: counts, answer))
                        }
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        port = channel.localAddress?.port ?? 0
    }

    /// Runs a test with a server that answers `hello` unless told otherwise, and with a folder that has the certificate
    /// of the servers' authority as `ca.pem`.
    static func with(
        _ identity: TestIdentity = .server, offersHTTP2: Bool = true, speaksTLS13: Bool = true,
        clients: TestIdentity? = nil,
        answer: @escaping @Sendable (Request) -> Response = { _ in Response(body: Array("hello".utf8)) },
        _ body: (SecureTestServer, TestFolder) async throws -> Void
    ) async throws {
        let files = try TestFolder()
        try files.write(Array(TestIdentity.servers.certificate.utf8), as: "ca.pem")
        let server = try await SecureTestServer(
            identity, offersHTTP2: offersHTTP2, speaksTLS13: speaksTLS13, clients: clients, answer)
        do { try await body(server, files) } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    /// The number of requests that have arrived.
    var requestCount: Int { counts.requests }

    /// Returns the URL of a path.
    func url(_ path: String = "/", host: String = "localhost") -> String { "https://\(host):\(port)\(path)" }

    /// Closes all connections.
    func stop() async {
        try? await channel.close()
        try? await group.shutdownGracefully()
    }
}

/// The counts of a server.
private final class ServerCounts: Sendable {
    private let state = Mutex((connections: 0, requests: 0))

    var requests: Int { state.withLock { $0.requests } }

    func nextConnection() -> Int {
        state.withLock { state in
            defer { state.connections += 1 }
            return state.connections
        }
    }

    func countRequest() { state.withLock { $0.requests += 1 } }
}

/// The number of further requests that a connection accepts.
private final class RequestLimit: Sendable {
    private let rest: Mutex<Int>

    init(_ count: Int) { rest = Mutex(count) }

    /// Counts a request, and returns whether it is the last one.
    func take() -> Bool {
        rest.withLock { rest in
            rest -= 1
            return rest == 0
        }
    }
}

/// A handler that answers requests; a body is written as the client accepts it.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let connection: Int
    private let limit: RequestLimit?
    private let counts: ServerCounts
    private let answer: @Sendable (SecureTestServer.Request) -> SecureTestServer.Response
    private var request: SecureTestServer.Request?
    private var rest: (body: ByteBuffer, count: Int)?

    init(
        connection: Int, limit: RequestLimit?, counts: ServerCounts,
        _ answer: @escaping @Sendable (SecureTestServer.Request) -> SecureTestServer.Response
    ) {
        (self.connection, self.limit, self.counts, self.answer) = (connection, limit, counts, answer)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            request = SecureTestServer.Request(method: head.method.rawValue, target: head.uri, connection: connection)
            if limit?.take() == true { endConnection(afterStreamOf: context.channel) }
        case .body(let buffer): request?.bodyCount += buffer.readableBytes
        case .end:
            guard let request else { return }
            counts.countRequest()
            let response = answer(request)
            var headers = NIOHTTP1.HTTPHeaders(response.headers)
            headers.add(name: "Content-Length", value: "\(response.body.count * response.repetitions)")
            let head = HTTPResponseHead(
                version: .http1_1, status: .init(statusCode: response.status), headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            rest = (ByteBuffer(bytes: response.body), response.body.isEmpty ? 0 : response.repetitions)
            writeRest(context)
        }
    }

    /// Sends `GOAWAY` with the stream's number as the last one, if it is a stream of HTTP/2.
    private func endConnection(afterStreamOf stream: any Channel) {
        guard let connection = stream.parent, connection.parent != nil else { return }
        stream.getOption(HTTP2StreamChannelOptions.streamID).whenSuccess { last in
            let payload = HTTP2Frame.FramePayload.goAway(lastStreamID: last, errorCode: .noError, opaqueData: nil)
            connection.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: payload), promise: nil)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writeRest(context)
        context.fireChannelWritabilityChanged()
    }

    private func writeRest(_ context: ChannelHandlerContext) {
        while let (body, count) = rest {
            guard count > 0 else {
                rest = nil
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
                return
            }
            guard context.channel.isWritable else { return context.flush() }
            rest = (body, count - 1)
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// A certificate and its key, both as PEM, from `certificates.pem`, which `make-certificates.sh` wrote.
struct TestIdentity: Sendable, CustomTestStringConvertible {
    private let name: String
    /// The certificate of a server, a client or an authority.
    private(set) var certificate: String
    /// The private key; empty for an authority.
    let key: String

    var testDescription: String { name }

    // The authorities.
    static let servers = TestIdentity("servers"), clients = TestIdentity("clients")
    static let strangers = TestIdentity("strangers")

    // Servers, for localhost and 127.0.0.1 unless the name says otherwise.
    static let server = TestIdentity("server"), expired = TestIdentity("expired")
    static let otherHost = TestIdentity("other-host")
    static let strangeServer = TestIdentity("strange-server"), selfSigned = TestIdentity("self-signed")

    // Clients.
    static let ann = TestIdentity("ann"), bob = TestIdentity("bob"), strangeClient = TestIdentity("strange-client")

    private static let sections: [Substring] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "certificates.pem")
        let text = try! String(contentsOf: file, encoding: .utf8)  // a file of this folder
        return text.split(separator: "# ")
    }()

    private init(_ name: String) {
        let section = Self.sections.first { $0.hasPrefix(name + "\n") }!  // a name in the script
        let content = section.dropFirst(name.count + 1)
        let key = content.firstRange(of: "-----BEGIN PRIVATE KEY-----")?.lowerBound ?? content.endIndex
        (self.name, certificate, self.key) = (name, String(content[..<key]), String(content[key...]))
    }

    /// Returns the identity with the certificate of its authority after its own.
    func followed(by authority: TestIdentity) -> TestIdentity {
        var identity = self
        identity.certificate += authority.certificate
        return identity
    }
}
