#if Engines
import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneRoutes
import BackplaneTestKit
import Dispatch
import Synchronization
import TestFixtures

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
