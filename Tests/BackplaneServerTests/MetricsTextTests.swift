#if Engines
import Backplane
import BackplaneHost
import BackplaneRoutes
import TestFixtures
import Testing

@testable import BackplaneHummingbird

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
