#if Engines
import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneMetrics
import BackplaneNetwork
import BackplaneTestKit
import Logging
import Metrics
import MetricsTestKit
import ServiceLifecycle
import TestFixtures
import Testing

@Suite(.timeLimit(.minutes(5)))
struct `Numbers of a host in swift-metrics` {
    private let metrics = TestMetrics()
    private let executor = AsyncHTTPClientExecutor(proxies: .none)
    private let names = [
        ("backplane.component", "Fetch"), ("backplane.managers", "Fetch"), ("backplane.plugin", FetchPlugin.id),
    ]

    private func total(_ label: String, _ dimensions: [(String, String)]) throws -> Int64 {
        try metrics.expectCounter(label, dimensions).totalValue
    }

    private func last(_ label: String, _ dimensions: [(String, String)]) throws -> Double? {
        try metrics.expectRecorder(label, dimensions).lastValue
    }

    @Test func `each call, error, exchange and change counts once, however often they are reported`() async throws {
        try await FetchPlugin.run(executor) { host, server in
            let reporting = HostMetrics(host, every: .milliseconds(1), factory: metrics)
            let group = ServiceGroup(
                services: [reporting], logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
            let run = Task { try await group.run() }
            let fetch = try await host.manager("Fetch", as: Fetch.self)
            for _ in 1...3 { _ = try await fetch.get(server.url(), host.begin()) }
            await eventually { (try? total("backplane.call.count", names)) == 3 }
            try await host.reset("Fetch")
            await #expect(throws: BackplaneError.self) { try await fetch.get("nonsense", host.begin()) }
            await #expect(throws: BackplaneError.self) { try await host.reset("Nobody") }
            await group.triggerGracefulShutdown()
            try await run.value

            #expect(try total("backplane.call.count", names) == 4)
            #expect(try total("backplane.call.errors", names) == 1)
            #expect(try last("backplane.call.in_flight", names) == 0)
            let communication = [("backplane.component", "FetchCommunication")] + names.dropFirst()
            #expect(try total("backplane.exchange.count", communication) == 3)
            #expect(try last("backplane.exchange.in_flight", communication) == 0)
            func changes(_ outcome: String) throws -> Int64 {
                try total(
                    "backplane.change.count", [("backplane.operation", "reset"), ("backplane.outcome", outcome)])
            }
            #expect(try changes("changed") == 1)
            #expect(try changes("failed") == 1)
            let active = [("backplane.plugin", FetchPlugin.id), ("backplane.state", "active")]
            #expect(try last("backplane.generation.count", active) == 1)
        }
    }

    @Test func `numbers of a component that is gone become zero`() async throws {
        try await FetchPlugin.run(executor) { host, _ in
            let reporting = HostMetrics(host, every: .milliseconds(1), factory: metrics)
            let run = Task { await reporting.run() }
            let routes = [
                ("backplane.component", "FetchRoutes"), ("backplane.managers", "FetchRoutes"),
                ("backplane.plugin", FetchPlugin.id),
            ]
            func reports() -> Int {
                (try? metrics.expectRecorder("backplane.call.in_flight", routes).values.count) ?? 0
            }
            await eventually { reports() > 0 }
            var manifest = FetchPlugin.manifest
            manifest.managers["FetchRoutes"] = nil
            try await host.apply(manifest)
            run.cancel()
            await run.value
            #expect(try last("backplane.call.in_flight", routes) == 0)
            #expect(try total("backplane.call.count", routes) == 0)
        }
    }

    @Test func `requests are measured by method, server and status, and nothing else about them is known`()
        async throws
    {
        let server = try TestServer { request, connection in
            connection.answer(request.path == ["missing"] ? "404 Not Found" : "200 OK")
        }
        let network = HTTPPipeline([MeasuredExecutor(executor, factory: metrics)])
        var cached = HTTPOptions()
        cached.cache = .memory(for: .seconds(60))
        for _ in 1...2 { _ = try await network.send(HTTPRequest("GET", server.url("/books?key=secret")), cached) }
        _ = try await network.send(HTTPRequest("GET", server.url("/missing")))
        _ = try await network.send(HTTPRequest("BREW", server.url("/pot")))
        server.stop()
        await #expect(throws: BackplaneError.self) { try await network.send(HTTPRequest("POST", server.url())) }

        func count(_ method: String, _ outcome: [(String, String)]) throws -> Int {
            let request = [
                ("http.request.method", method), ("server.address", "127.0.0.1"), ("server.port", "\(server.port)"),
            ]
            return try metrics.expectTimer("http.client.request.duration", request + outcome).values.count
        }
        #expect(try count("GET", [("http.response.status_code", "200")]) == 1, "the cache answers the second one")
        #expect(try count("GET", [("http.response.status_code", "404"), ("error.type", "404")]) == 1)
        #expect(try count("_OTHER", [("http.response.status_code", "200")]) == 1)
        #expect(try count("POST", [("error.type", "network.failed")]) == 1)
        #expect(metrics.timers.count == 4)
        #expect(metrics.timers.allSatisfy { $0.displayUnit == .seconds })
    }

    @Test func `calls of the program are measured by method and error`() async throws {
        try await FetchPlugin.run(executor) { host, server in
            let reporting = HostMetrics(host, factory: metrics)
            let fetch = try await host.manager("Fetch", as: Fetch.self)
            let answer = try await reporting.measure("Fetch/get") { try await fetch.get(server.url(), host.begin()) }
            #expect(!answer.isEmpty)
            let failure = await #expect(throws: BackplaneError.self) {
                try await reporting.measure("Fetch/get") { try await fetch.get("nonsense", host.begin()) }
            }
            let method = [("rpc.system.name", "backplane"), ("rpc.method", "Fetch/get")]
            let code = try #require(failure?.code.rawValue)
            for outcome in [[], [("error.type", code)]] {
                #expect(try metrics.expectTimer("rpc.client.call.duration", method + outcome).values.count == 1)
            }
        }
    }
}
#endif
