#if Engines
import Backplane
import BackplaneHost
import BackplaneHummingbird
import BackplaneNetwork
import BackplaneRoutes
import BackplaneTestKit
import Dispatch
import Hummingbird
import Logging
import ServiceLifecycle
import Synchronization
import TestFixtures
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

struct DeskPlugin: Plugin {
    static let id = "org.backplane.tests.desk-routes"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(DeskRoutes.self)
        registrar.add(BlockedRoutes.self)
        registrar.add(OtherDeskRoutes.self)
    }
}

/// What handlers and the tests that call them share, by names that only one test uses.
enum Shared {
    private static let known = Mutex<[String: TestGate]>([:])
    private static let semaphores = Mutex<[String: DispatchSemaphore]>([:])
    static let notes = Recording<String>()

    static func gate(_ name: String) -> TestGate {
        known.withLock { known in
            let gate = known[name] ?? TestGate()
            known[name] = gate
            return gate
        }
    }

    static func semaphore(_ name: String) -> DispatchSemaphore {
        semaphores.withLock { semaphores in
            let semaphore = semaphores[name] ?? DispatchSemaphore(value: 0)
            semaphores[name] = semaphore
            return semaphore
        }
    }
}

/// Routes of every kind.
final class DeskRoutes: RouteManager {
    struct Book: Codable, Sendable, Equatable {
        var id: Int
    }
    private struct Failure: ComponentError {
        var code: String { "tests.planted" }
        var message: String { "planted" }
    }

    init(_ context: Context) {}

    static func routes(_ routes: inout Routes<DeskRoutes>) {
        answers(&routes)
        bodies(&routes)
        pieces(&routes)
    }

    private static func answers(_ routes: inout Routes<DeskRoutes>) {
        routes.get("/books/:id") { _, request, _ in Book(id: try request.parameter("id")) }
        routes.post("/books") { _, request, _ in
            let book = try request.body(as: Book.self)
            var response = try RouteResponse.json(book, status: 201)
            response.headers["Location"] = "/books/\(book.id)"
            response.headers["Content-Length"] = "7"
            response.setCookie("a", "1")
            response.setCookie("b", "2")
            return response
        }
        routes.put("/books/:id") { _, request, _ in try request.body(as: Book.self) }
        routes.patch("/books/:id") { _, request, _ in "patched \(try request.parameter("id") as String)" }
        routes.delete("/books/:id") { _, _, _ in Nothing() }
        routes.on("PURGE", "/books") { _, request, _ in request.method }
        routes.head("/stock") { _, _, _ in RouteResponse(headers: ["X-Stock": "7"]) }
        routes.get("/request/*rest") { _, request, call in
            [
                request.method, request.path, request.query ?? "-", try request.parameter("rest"),
                request.headers.values("X-Twice").joined(separator: "|"), request.headers["Host"] ?? "-",
                request.remoteAddress ?? "-", call.trace?.id ?? "-", request.body == nil ? "no body" : "a body",
            ].joined(separator: "\n")
        }
        routes.get("/names/:name") { _, request, _ in try request.parameter("name") as String }
        routes.get("/failure") { _, _, _ -> Nothing in throw Failure() }
        routes.get("/problem") { _, _, _ -> Nothing in throw RouteProblem(409, "taken") }
        routes.get("/invalid/:part") { _, request, _ in
            switch try request.parameter("part") as String {
            case "status": RouteResponse(status: 99)
            case "name": RouteResponse(headers: ["a b": "c"])
            default: RouteResponse(headers: ["X-Split": "a\r\nSet-Cookie: b"])
            }
        }
        routes.get("/gates/:name") { _, request, _ in
            let name = try request.parameter("name") as String
            try await Shared.gate(name).pass()
            Shared.notes.add("\(name) \(request.query ?? "")")
            return name
        }
        routes.get("/deaf/:name") { _, request, _ in
            let name = try request.parameter("name") as String
            await Shared.gate(name).passThoughCancelled()
            Shared.notes.add(Task.isCancelled ? "\(name) was cancelled" : "\(name) was not cancelled")
            return Nothing()
        }
        routes.get("/clash") { _, _, _ in "first" }
    }

    private static func bodies(_ routes: inout Routes<DeskRoutes>) {
        routes.post("/bodies") { _, request, _ in
            if let path = request.file {
                let status = try FileStatus(at: path)
                Shared.notes.add(path)
                return "file \(status.modeText) \(try await request.bytes().mark)"
            }
            return "memory \((request.body ?? []).mark)"
        }
        routes.upload("/uploads") { _, _, body, _ in
            var bytes: [UInt8] = []
            for try await chunk in body { bytes += chunk }
            return bytes.mark
        }
        routes.post("/failure") { _, request, _ -> Nothing in
            Shared.notes.add(request.file ?? "")
            throw Failure()
        }
        routes.stream("/bodies/pieces", method: "POST") { _, request, _ in
            let path = request.file ?? ""
            Shared.notes.add(path)
            return RouteStream { body in
                try await body.send("begin\n")
                try await body.send("\(try FileStatus(at: path).size)\n")
            }
        }
        routes.get("/file") { _, request, _ in RouteResponse.file(try request.query("path", default: "")) }
        routes.get("/file/missing") { _, request, _ in
            var response = RouteResponse.file(try request.query("path", default: ""))
            response.status = 404
            return response
        }
    }

    private static func pieces(_ routes: inout Routes<DeskRoutes>) {
        routes.stream("/numbers") { _, request, _ in
            let count = try request.query("count", default: 3)
            return RouteStream(type: "text/plain") { body in
                for number in 1...max(count, 1) { try await body.send("\(number)\n") }
            }
        }
        routes.stream("/broken") { _, _, _ in
            RouteStream { body in
                try await body.send("1\n")
                throw Failure()
            }
        }
        routes.stream("/refused") { _, _, _ -> RouteStream in throw Failure() }
        routes.stream("/endless/:name") { _, request, _ in
            let name = try request.parameter("name") as String
            return RouteStream { body in
                defer { Shared.notes.add("\(name) has ended") }
                while true { try await body.send([UInt8](repeating: 0x78, count: 1_024)) }
            }
        }
        routes.stream("/held/:name") { _, request, _ in
            let name = try request.parameter("name") as String
            return RouteStream { body in
                try await body.send("1\n")
                try await Shared.gate(name).pass()
                try await body.send("2\n")
            }
        }
        routes.events("/events/:name") { _, request, _ in
            let name = try request.parameter("name") as String, from = Int(request.lastEventID ?? "0") ?? 0
            return AsyncStream<ServerEvent> { events in
                events.onTermination = { _ in Shared.notes.add("\(name) has ended") }
                events.yield(ServerEvent(data: "a", id: "\(from + 1)"))
                Task {
                    try? await Shared.gate(name).pass()
                    events.yield(ServerEvent(name: "last", data: "b\nc", id: "\(from + 2)"))
                    events.finish()
                }
            }
        }
    }
}

/// Routes that block their threads.
final class BlockedRoutes: RouteManager {
    init(_ context: Context) {}

    static func routes(_ routes: inout Routes<BlockedRoutes>) {
        routes.get("/blocked/:name") { _, request, _ in
            let name = try request.parameter("name") as String
            Shared.notes.add("\(name) is blocked")
            block(name)
            return name
        }
    }

    private static func block(_ name: String) { Shared.semaphore(name).wait() }
}

/// Routes of which one matches the same requests as one of ``DeskRoutes``.
final class OtherDeskRoutes: RouteManager {
    init(_ context: Context) {}

    static func routes(_ routes: inout Routes<OtherDeskRoutes>) {
        routes.get("/clash") { _, _, _ in "second" }
        routes.get("/other") { _, _, _ in "other" }
    }
}

extension [UInt8] {
    /// Returns bytes of which no two kilobytes are equal.
    static func distinct(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = [], part = [UInt8](repeating: 0x78, count: 1_000)
        while bytes.count < count {
            (part[0], part[1]) = (UInt8(bytes.count / 1_000 & 0xFF), UInt8(bytes.count / 256_000 & 0xFF))
            bytes += part.prefix(count - bytes.count)
        }
        return bytes
    }

    /// The length, and a number that other bytes hardly have in this process.
    var mark: String {
        var hasher = Hasher()
        withUnsafeBytes { hasher.combine(bytes: $0) }
        return "\(count) \(hasher.finalize())"
    }
}

extension RouteRequest {
    fileprivate func bytes() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in try bodyStream { bytes += chunk }
        return bytes
    }
}
#endif
