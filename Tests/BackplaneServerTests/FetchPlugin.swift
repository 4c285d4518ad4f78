#if Engines
import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneRoutes
import BackplaneTestKit
import TestFixtures

/// A plugin whose manager and whose route send a request, and return the body of the response.
struct FetchPlugin: Plugin {
    static let id = "org.backplane.tests.fetch"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(FetchManager.self)
        registrar.add(FetchRoutes.self)
        registrar.add(FetchCommunication.self)
    }

    /// The host's managers, `Fetch` and `FetchRoutes`. Traces are sent to 127.0.0.1, and not to localhost.
    static var manifest: Manifest {
        let communication = ComponentDefinition(className: "FetchCommunication")
        return Manifest(
            managers: [
                "Fetch": ManagerDefinition(className: "FetchManager", communicationController: communication),
                "FetchRoutes": ManagerDefinition(className: "FetchRoutes", communicationController: communication),
            ], network: NetworkSettings(traced: ["127.0.0.1"]))
    }

    /// Runs a host beside a server, which answers with the `traceparent` that it has received, or with `none`.
    static func run(
        _ executor: any HTTPExecutor, lanes: LaneRule = .fastest,
        _ body: (PluginHost, TestServer) async throws -> Void
    ) async throws {
        let server = try TestServer { request, connection in
            let status = request.path == ["missing"] ? "404 Not Found" : "200 OK"
            connection.answer(status, body: Array((request["traceparent"] ?? "none").utf8))
        }
        try await PluginHost.running(manifest, [FetchPlugin.self], executors: [executor], lanes: lanes) { host in
            try await body(host, server)
        }
    }
}

struct Fetch: Contract {
    static let version: Version = "1.0.0"
    /// Returns the body of the response from a URL.
    let get = AsyncMethod<String, String>()
}

private final class FetchManager: Manager {
    typealias Provides = Fetch
    struct Wires: Wiring {
        let communicationController: Wire<Fetch>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.get) { manager, url, call in try await manager.wires.communicationController.get(url, call) }
    }
}

private final class FetchRoutes: RouteManager {
    struct Wires: Wiring {
        let communicationController: Wire<Fetch>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func routes(_ routes: inout Routes<FetchRoutes>) {
        routes.get("/fetch") { me, request, call in
            try await me.wires.communicationController.get(request.query("url", default: ""), call)
        }
    }
}

private final class FetchCommunication: CommunicationController {
    typealias Provides = Fetch
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.get) { me, url, call in
            let response = try await me.context.http.send(HTTPRequest("GET", url), call)
            return String(decoding: response.body, as: UTF8.self)
        }
    }
}
#endif
