#if Engines
import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneMetrics
import BackplaneNetwork
import BackplaneRoutes
import BackplaneTestKit
import Foundation
import Logging
import Metrics
import MetricsTestKit
import ServiceLifecycle
import TestFixtures
import Testing

@testable import BackplaneHummingbird

@Suite(.timeLimit(.minutes(5)))
struct `The health check of a server` {
    private struct Health: Decodable {
        struct Manager: Decodable {
            var name, state: String
            var code: String?
        }
        var status: String
        var managers: [Manager]
    }

    /// Runs a server of these managers, some of which do not start, with a health check.
    private func serve(
        _ managers: [String: ManagerDefinition], _ body: (ServerConnection, PluginHost) async throws -> Void
    ) async throws {
        let files = try TestFolder()
        let host = PluginHost(
            manifest: Manifest(plugins: [], managers: managers), plugins: [PatientPlugin.self],
            options: HostOptions(
                loadFolder: files.path + "/loads", dataFolder: files.path + "/data", occupationLimit: nil))
        try await host.start(keepGoing: true)
        let settings = ServerSettings(listen: "127.0.0.1:0", health: "/healthz")
        do {
            try await HostServer.running(host, settings) { port, _ in
                try await body(try ServerConnection(port: port), host)
            }
        } catch {
            await host.stop()
            throw error
        }
        await host.stop()
    }

    private let good = ManagerDefinition(className: "PatientManager")
    private let bad = ManagerDefinition(className: "PatientManager", configuration: ["isIll": true])

    @Test func `it is up if every eager manager is ready`() async throws {
        var lazy = bad
        lazy.activation = .lazy
        try await serve(["Ann": good, "Bob": lazy]) { client, _ in
            let answer = try await client.get("/healthz?now")
            #expect(answer.status == 200)
            #expect(answer["content-type"] == "application/json")
            #expect(answer["cache-control"] == "no-store")
            let health = try JSONDecoder().decode(Health.self, from: Data(answer.body))
            #expect(health.status == "up")
            #expect(health.managers.map(\.name) == ["Ann", "Bob"])
            #expect(health.managers.map(\.state) == ["ready", "resolved"])
            let head = try await client.get("/healthz", "HEAD")
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            #expect(try await client.get("/healthz", "POST").status == 405)
        }
    }

    @Test func `it is down if an eager manager did not start, and says only the code of the reason`() async throws {
        try await serve(["Ann": good, "Bob": bad]) { client, host in
            let answer = try await client.get("/healthz")
            #expect(answer.status == 503)
            #expect(!answer.text.contains("secret"))
            let health = try JSONDecoder().decode(Health.self, from: Data(answer.body))
            #expect(health.status == "down")
            #expect(health.managers.map(\.code) == [nil, "component.failed"])
            try await host.apply(Manifest(plugins: [], managers: ["Ann": good]))
            #expect(try await client.get("/healthz").status == 200)
        }
    }
}

private struct Pulse: Contract {
    static let version: Version = "1.0.0"
    let beat = AsyncMethod<Nothing, Nothing>()
}

private struct PatientPlugin: Plugin {
    static let id = "org.backplane.tests.patient"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(PatientManager.self) }
}

private final class PatientManager: Manager {
    typealias Provides = Pulse
    struct Configuration: Decodable, Sendable {
        var isIll: Bool?
    }
    private struct Illness: ComponentError {
        var code: String { "tests.ill" }
        var message: String { "a secret" }
    }

    init(_ context: Context) throws {
        if context.configuration.isIll == true { throw Illness() }
    }

    static func methods(_ table: inout Methods) { table.async(\.beat) { _, _, _ in Nothing() } }
}

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

@Suite(.timeLimit(.minutes(5)))
struct `The metrics of a server` {
    private static let manifest = Manifest(
        plugins: [], managers: ["Tide": ManagerDefinition(className: "TideRoutes")])

    @Test func `a metric has its help, its type and its samples`() {
        var metrics = MetricsText()
        let none: [(labels: MetricsText.Labels, value: Int)] = []
        metrics.add(.gauge, "open", "Open doors.", none)
        metrics.add(.counter, "doors_total", "Doors.", [([], 1), ([("kind", "front"), ("floor", "0")], 2)])
        #expect(
            metrics.text == """
                # HELP doors_total Doors.
                # TYPE doors_total counter
                doors_total 1
                doors_total{kind="front",floor="0"} 2

                """)
    }

    @Test func `quotes, backslashes and line feeds of labels are escaped`() {
        var metrics = MetricsText()
        metrics.add(.gauge, "open", "Open doors.", [([("name", "a\"b\\c\nd\r\né")], 1)])
        #expect(metrics.text.hasSuffix(#"open{name="a\"b\\c\nd\né"} 1"# + "\n"))
    }

    @Test func `the buckets of a histogram add up`() async throws {
        try await PluginHost.running(Self.manifest, [TidePlugin.self], executors: []) { host in
            let metrics = ServerMetrics()
            for milliseconds in [1, 20, 20, 30_000] {
                metrics.note(
                    manager: "Books", route: "GET /books/:id", status: milliseconds > 20 ? 0 : 200,
                    time: .milliseconds(milliseconds))
            }
            let lines = await metrics.text(of: host).split(separator: "\n").map(String.init)
            let route = #"manager="Books",method="GET",route="/books/:id""#
            #expect(lines.contains(#"backplane_http_requests_total{\#(route),status="0"} 1"#))
            #expect(lines.contains(#"backplane_http_requests_total{\#(route),status="200"} 3"#))
            let name = "backplane_http_request_duration_seconds"
            for (bound, count) in [("0.001", 1), ("0.01", 1), ("0.025", 3), ("10.0", 3), ("+Inf", 4)] {
                #expect(lines.contains(#"\#(name)_bucket{\#(route),le="\#(bound)"} \#(count)"#))
            }
            #expect(lines.contains("\(name)_count{\(route)} 4"))
            #expect(lines.contains { $0.hasPrefix("\(name)_sum{\(route)} 30.04") })
        }
    }

    @Test func `routes beyond a limit are counted together`() async throws {
        try await PluginHost.running(Self.manifest, [TidePlugin.self], executors: []) { host in
            let metrics = ServerMetrics()
            for number in 0..<10_050 {
                metrics.note(manager: "Books", route: "GET /\(number)", status: 200, time: .zero)
            }
            let other = #"manager="other",method="other",route="other",status="200"} 50"#
            #expect(await metrics.text(of: host).contains("backplane_http_requests_total{\(other)\n"))
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a server shows the metrics of its host`(lanes: LaneRule) async throws {
        try await PluginHost.running(Self.manifest, [TidePlugin.self], executors: [], lanes: lanes) { host in
            let settings = ServerSettings(listen: "127.0.0.1:0", metrics: "/metrics")
            try await HostServer.running(host, settings) { port, _ in
                let client = try ServerConnection(port: port)
                try await host.reset()
                for _ in 0..<3 { #expect(try await client.get("/tides/7").status == 200) }
                #expect(try await client.get("/nothing").status == 404)
                var text = ""
                try await eventually {
                    let answer = try await client.get("/metrics")
                    #expect(answer["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
                    text = answer.text
                    return text.contains(#"backplane_changes_total{operation="reset",outcome="changed"} 1"#)
                }
                let route = #"manager="Tide",method="GET",route="/tides/:id",status="200""#
                let component = #"component="Tide",plugin="org.backplane.tests.tide",managers="Tide""#
                for line in [
                    "backplane_http_requests_total{\(route)} 3", "backplane_calls_total{\(component)} 3",
                    "backplane_calls_in_flight{\(component)} 0", "backplane_streams_open{\(component)} 0",
                    "backplane_exchanges_total{\(component)} 0",
                    #"backplane_generations{plugin="org.backplane.tests.tide",state="active"} 1"#,
                    #"backplane_cache_hits_total{place="memory"} 0"#,
                ] {
                    #expect(text.split(separator: "\n").contains { $0 == line }, "\(line)")
                }
                try expectFormat(text)
            }
        }
    }

    /// Checks that every line has the format, every metric a type, and every series one sample.
    private func expectFormat(_ text: String) throws {
        let lines = text.split(separator: "\n")
        let samples = lines.filter { !$0.hasPrefix("#") }
        for line in samples {
            let pattern = #/([a-z_]+)(\{([a-z]+="([^"\\]|\\.)*",?)+\})? [0-9.e+-]+/#
            let name = try #require(line.wholeMatch(of: pattern)?.1, "\(line)")
            let family = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) }.map { name.dropLast($0.count) }
            let isTyped = [name, family ?? name].contains { name in lines.contains { $0.hasPrefix("# TYPE \(name) ") } }
            #expect(isTyped, "\(line)")
        }
        let series = samples.map { $0[..<($0.lastIndex(of: " ") ?? $0.endIndex)] }
        #expect(Set(series).count == series.count)
    }
}

private struct TidePlugin: Plugin {
    static let id = "org.backplane.tests.tide"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(TideRoutes.self) }
}

private final class TideRoutes: RouteManager {
    init(_ context: Context) {}

    static func routes(_ routes: inout Routes<TideRoutes>) {
        routes.get("/tides/:id") { _, request, _ in try request.parameter("id") as String }
    }
}
#endif
