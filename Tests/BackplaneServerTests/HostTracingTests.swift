#if Engines
import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneHummingbird
import BackplaneNetwork
import BackplaneRoutes
import BackplaneTestKit
import BackplaneTracing
import BackplaneURLSession
import Hummingbird
import InMemoryTracing
import TestFixtures
import Testing
import Tracing

@Suite(.serialized, .timeLimit(.minutes(5)))
struct `Spans of calls, and of the requests that plugins send` {
    private let tracer = TraceContextTracer.bootstrapped
    private let executor = AsyncHTTPClientExecutor(proxies: .none)

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a call is a span of the program's trace, and the request that a plugin sends for it one below`(
        lanes: LaneRule
    ) async throws {
        try await FetchPlugin.run(TracedExecutor(executor), lanes: lanes) { host, server in
            let fetch = try await host.manager("Fetch", as: Fetch.self)
            let (work, received) = try await withSpan("work") { span in
                let received = try await host.withSpan("Fetch/get") { call in
                    try await fetch.get(server.url("/books?key=secret"), call)
                }
                return (span.context.inMemorySpanContext, received)
            }
            let parent = try #require(work), spans = tracer.spans(in: parent.traceID)
            try #require(spans.map(\.operationName) == ["GET", "Fetch/get", "work"])
            let (request, call) = (spans[0], spans[1])
            #expect(call.kind == .client)
            #expect(call.parentSpanID == parent.spanID)
            #expect(call.attributes.get("rpc.system.name") == "backplane")
            #expect(call.attributes.get("rpc.method") == "Fetch/get")
            #expect(call.status == nil)
            #expect(request.kind == .client)
            #expect(request.parentSpanID == call.spanID)
            #expect(request.attributes.get("http.request.method") == "GET")
            #expect(request.attributes.get("server.address") == "127.0.0.1")
            #expect(request.attributes.get("server.port") == .int(Int64(server.port)))
            #expect(request.attributes.get("url.full") == .string(server.url("/books")))
            #expect(request.attributes.get("http.response.status_code") == 200)
            #expect(request.status == nil)
            #expect(received == "00-\(parent.traceID)-\(request.spanID)-01")
        }
    }

    @Test func `a host that the manifest does not name receives no trace, and its request is a span nevertheless`()
        async throws
    {
        try await FetchPlugin.run(TracedExecutor(executor)) { host, server in
            let fetch = try await host.manager("Fetch", as: Fetch.self)
            let call = host.begin(), trace = try #require(call.trace?.id)
            #expect(try await fetch.get("http://localhost:\(server.port)/", call) == "none")
            let spans = tracer.spans(in: trace)
            #expect(spans.map(\.operationName) == ["GET"])
            #expect(spans.first?.attributes.get("server.address") == "localhost")
        }
    }

    @Test func `spans have the statuses of 400 and more, and the codes of errors`() async throws {
        try await FetchPlugin.run(TracedExecutor(executor)) { host, server in
            let fetch = try await host.manager("Fetch", as: Fetch.self)
            let missing = try await host.withSpan("Fetch/missing") { call in
                _ = try await fetch.get(server.url("/missing"), call)
                return try #require(call.trace?.id)
            }
            let refused = try #require(tracer.spans(in: missing).first { $0.operationName == "GET" })
            #expect(refused.status?.code == .error)
            #expect(refused.attributes.get("error.type") == "404")
            #expect(tracer.spans(in: missing).last?.status == nil)
            server.stop()
            let call = host.begin(), trace = try #require(call.trace?.id)
            await #expect(throws: BackplaneError.self) {
                try await ServiceContext.$current.withValue(call.serviceContext) {
                    try await host.withSpan("Fetch/get") { call in _ = try await fetch.get(server.url(), call) }
                }
            }
            let failed = tracer.spans(in: trace)
            #expect(failed.map(\.operationName) == ["GET", "Fetch/get"])
            #expect(failed.allSatisfy { $0.status?.code == .error })
            #expect(failed.allSatisfy { $0.attributes.get("error.type") == "network.failed" })
        }
    }

    @Test func `a call continues the span of a context, and its trace is a context again`() {
        let host = PluginHost(manifest: Manifest(managers: [:]))
        withSpan("work") { span in
            let own = span.context.inMemorySpanContext, call = host.begin(in: .current)
            #expect(call.trace?.id == own?.traceID)
            #expect(call.serviceContext.inMemorySpanContext?.traceID == own?.traceID)
            #expect(call.serviceContext.inMemorySpanContext?.spanID == own?.spanID)
        }
        #expect(host.begin(in: .current).trace != nil)
    }

    @Test func `the trace of a request to a plugin's route goes on to the request that the plugin sends`() async throws
    {
        try await FetchPlugin.run(executor) { host, server in
            let client = Trace.random().traceparent
            let named = try await fetched(server.url(), by: host, for: client)
            #expect(named == client)
            let other = try await fetched("http://localhost:\(server.port)/", by: host, for: client)
            #expect(other == "none")
        }
    }

    @Test func `the request that a plugin's route sends is a span below that of the application's middleware`()
        async throws
    {
        try await FetchPlugin.run(TracedExecutor(executor)) { host, server in
            let client = Trace.random().traceparent, trace = try #require(Trace(traceparent: client)?.id)
            let received = try await fetched(server.url(), by: host, for: client, isTraced: true)
            await eventually { tracer.spans(in: trace).contains { $0.kind == .server } }
            let request = try #require(tracer.spans(in: trace).first { $0.kind == .client })
            let middleware = try #require(tracer.spans(in: trace).first { $0.kind == .server })
            #expect(received == "00-\(trace)-\(request.spanID)-01")
            #expect(request.parentSpanID == middleware.spanID)
            #expect(middleware.parentSpanID.map(client.contains) == true)
        }
    }

    /// Returns what the plugin's route, in an application, has fetched from a URL for a request with a trace.
    private func fetched(
        _ url: String, by host: PluginHost, for traceparent: String, isTraced: Bool = false
    ) async throws -> String {
        let router = Router()
        if isTraced { router.add(middleware: TracingMiddleware()) }
        router.add(middleware: HostRoutes(host))
        var text = ""
        try await RoutedApplication.run(router.buildResponder()) { port in
            let request = BackplaneNetwork.HTTPRequest(
                "GET", "http://127.0.0.1:\(port)/fetch?url=\(url)", headers: ["traceparent": traceparent])
            text = String(decoding: try await URLSessionExecutor().execute(request).body, as: UTF8.self)
        }
        return text
    }
}

/// A tracer that keeps spans in memory, and passes them on as W3C Trace Context has it.
private struct TraceContextTracer: Tracer {
    /// The tracer of this process.
    static let bootstrapped = {
        let tracer = TraceContextTracer()
        InstrumentationSystem.bootstrap(tracer)
        return tracer
    }()
    private let memory = InMemoryTracer(
        idGenerator: InMemoryTracer.IDGenerator(
            nextTraceID: { Trace.random().id }, nextSpanID: { String(Trace.random().id.prefix(16)) }))

    /// Returns the spans of a trace in the order in which they have ended.
    func spans(in trace: String) -> [FinishedInMemorySpan] { memory.finishedSpans.filter { $0.traceID == trace } }

    func startSpan<Instant: TracerInstant>(
        _ name: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file: String, line: UInt
    ) -> InMemorySpan {
        memory.startSpan(
            name, context: context(), ofKind: kind, at: instant(), function: function, file: file, line: line)
    }

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let span = context.inMemorySpanContext else { return }
        injector.inject("00-\(span.traceID)-\(span.spanID)-01", forKey: "traceparent", into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let text = extractor.extract(key: "traceparent", from: carrier) else { return }
        let parts = text.split(separator: "-").map(String.init)
        context.inMemorySpanContext = InMemorySpanContext(traceID: parts[1], spanID: parts[2], parentSpanID: nil)
    }

    func forceFlush() {}
}

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
            let response = try await me.context.http.send(BackplaneNetwork.HTTPRequest("GET", url), call)
            return String(decoding: response.body, as: UTF8.self)
        }
    }
}
#endif
