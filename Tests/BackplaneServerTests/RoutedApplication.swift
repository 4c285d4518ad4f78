#if Engines
import BackplaneHost
import BackplaneHummingbird
import BackplaneTestKit
import Hummingbird
import Logging
import ServiceLifecycle
import Testing

/// A Hummingbird application on a free port, for as long as a test uses it.
enum RoutedApplication {
    /// Runs an application, and stops it when `body` has ended.
    static func run<Responder: HTTPResponder>(
        _ responder: Responder, _ body: (_ port: UInt16) async throws -> Void
    ) async throws where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        let silent = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        let (ports, port) = AsyncStream.makeStream(of: UInt16.self)
        let application = Application(
            responder: responder,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0), serverName: nil),
            onServerRunning: { channel in
                channel.localAddress?.port.map { _ = port.yield(UInt16($0)) }
                port.finish()
            }, logger: silent)
        let group = ServiceGroup(services: [application], logger: silent)
        let run = Task {
            defer { port.finish() }
            try await group.run()
        }
        do {
            try await body(try #require(await ports.first { _ in true }))
        } catch {
            await group.triggerGracefulShutdown()
            _ = await run.result
            throw error
        }
        await group.triggerGracefulShutdown()
        try await run.value
    }
}

/// A host of ``DeskRoutes`` and others, whose routes an application serves.
struct RoutedHost: Sendable {
    let host: TestHost
    let port: UInt16

    /// Runs a host, and an application that consists of its routes.
    static func run(
        limits: ServerLimits = .patient, lanes: LaneRule = .fastest, _ body: (RoutedHost) async throws -> Void
    ) async throws {
        try await run(limits: limits, lanes: lanes, as: { (routes: HostRoutes<BasicRequestContext>) in routes }, body)
    }

    /// Runs a host, and an application that its routes are mounted in.
    ///
    /// - Parameter application: A function that returns the responder of the application.
    static func run<Responder: HTTPResponder>(
        _ managers: [String: String] = ["Desk": "DeskRoutes"], only names: [String]? = nil, at prefix: String = "/",
        limits: ServerLimits = .patient, lanes: LaneRule = .fastest,
        as application: (HostRoutes<Responder.Context>) -> Responder, _ body: (RoutedHost) async throws -> Void
    ) async throws
    where
        Responder.Context: RequestContext & InitializableFromSource<ApplicationRequestContextSource>
    {
        let manifest = Manifest(managers: managers.mapValues { ManagerDefinition(className: $0) })
        try await TestHost.run(manifest, plugins: [DeskPlugin.self], lanes: lanes) { host in
            let routes = HostRoutes<Responder.Context>(host.host, names, at: prefix, limits: limits)
            try await RoutedApplication.run(application(routes)) { port in
                try await body(RoutedHost(host: host, port: port))
            }
        }
    }

    func connect(receiving buffer: Int32? = nil) throws -> ServerConnection {
        try ServerConnection(port: port, receiving: buffer)
    }
}

extension ServerLimits {
    /// Limits whose time passes only by the clock of a test.
    static var patient: ServerLimits { ServerLimits(timeout: .seconds(36_000)) }
}

extension ServerConnection {
    /// Sends a request with fields and a body, and reads the answer.
    func send(
        _ method: String, _ path: String, _ fields: [String: String] = [:], body: [UInt8] = []
    ) async throws -> Answer {
        var fields = fields
        if !body.isEmpty { fields["Content-Length"] = "\(body.count)" }
        let lines = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
        let head = Array("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n".utf8)
        let bytes = head + body
        return try await wait { socket in
            socket.send(bytes)
            guard let answer = socket.answer(to: method) else { throw NoAnswer() }
            return answer
        }
    }
}
#endif
