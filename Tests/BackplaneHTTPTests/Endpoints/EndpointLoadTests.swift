import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Dispatch
import Foundation
import Synchronization
import Testing

/// Loads that were started: callbacks, their order and executors, and cancellation at every stage.
@Suite(.timeLimit(.minutes(5)))
struct EndpointLoadTests {
    /// The stages that a load is in when it is cancelled.
    enum Stage: CaseIterable {
        case interceptor, upload, request, redirect, body, delay, verdict
    }
    /// An actor that knows whether it runs.
    actor Shelf {
        let steps = Recording<String>()
        nonisolated func add(_ step: String) {
            assumeIsolated { $0.steps.add(step) }
        }
    }

    @Test(arguments: ClientKind.all)
    func `callbacks are called in order, on their executors, also after the end`(kind: ClientKind) async throws {
        let latch = Latch()
        let server = try TestServer { _, connection in
            latch.pass()
            connection.answer("200 OK", body: Array("whale".utf8))
        }
        try await kind.lend { http, call async throws in
            let shelf = Shelf(), steps = shelf.steps, queue = DispatchQueue(label: "callbacks")
            let load = Endpoint<String>("GET", "").load(on: http.relative(to: server.url()), call)
                .onSuccess(on: .actor(shelf)) { shelf.add("1 \($0)") }
                .onFailure { steps.add("no \($0)") }
                .onCompletion(
                    on: CallbackExecutor { work in queue.async(execute: work) }
                ) { _ in
                    dispatchPrecondition(condition: .onQueue(queue))
                    steps.add("2")
                }
                .onSuccess(on: .main) { _ in
                    MainActor.assertIsolated()
                    steps.add("3")
                }
                .onSuccess { _ in steps.add("4") }
            latch.open()
            #expect(try await load.value == "whale")
            load.onSuccess(on: .actor(shelf)) { _ in shelf.add("5") }.onCompletion { _ in steps.add("6") }
            #expect(try await steps.first(6) == ["1 whale", "2", "3", "4", "5", "6"])
            load.cancel()
            #expect(try await load.value == "whale", "the end does not change")
        }
    }

    @Test(arguments: ClientKind.all)
    func `progress is told before the end, up to the last byte`(kind: ClientKind) async throws {
        let bytes = [UInt8](repeating: 1, count: 2_000_000), areAdded = Latch()
        let server = try TestServer { _, connection in
            areAdded.pass()
            connection.answer("200 OK", body: bytes)
        }
        try await kind.lend { http, call async throws in
            let progress = Recording<Int64>()
            let load = Endpoint<[UInt8]>("GET", "").load(on: http.relative(to: server.url()), call)
                .onProgress { progress.add($0.received) }.onCompletion { _ in progress.add(-1) }
            areAdded.open()
            #expect(try await load.value == bytes)
            _ = try await progress.first { $0 == -1 }
            let all = progress.all
            #expect(all.last == -1 && all.dropLast().last == 2_000_000)
            #expect(all.dropLast() == all.dropLast().sorted()[...])
        }
    }

    @Test(arguments: ClientKind.all, Stage.allCases)
    func `a load that is cancelled ends once, with call.cancelled`(kind: ClientKind, stage: Stage) async throws {
        let reached = Recording<Bool>(), left = Latch()
        defer { left.open() }
        let server = try TestServer(readsBodies: stage != .upload) { request, connection in
            switch stage {
            case .upload:
                reached.add(true)
                left.pass()  // without reading the body, which fits into no buffer
                connection.reset()
            case .redirect where request.target == "/":
                connection.answer("307 Temporary Redirect", [("Location", "/there")])
            case .request, .redirect:
                reached.add(true)
                connection.stall()
            case .body:
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                reached.add(true)
                connection.stall()
            case .delay:
                connection.answer("503 Unavailable", [("Retry-After", "50")])
                reached.add(true)
            case .verdict where !reached.all.isEmpty: connection.stall()  // the delay is over
            case .interceptor, .verdict: connection.answer("200 OK", body: Array("whale".utf8))
            }
        }
        try await kind.lend { http, call async throws in
            var endpoint = Endpoint<String>("GET", "")
            endpoint.retry = RetryPolicy()
            switch stage {
            case .interceptor:
                endpoint.interceptors = [
                    HTTPInterceptor { request, next in
                        reached.add(true)
                        try await TestGate().pass()
                        return try await next(request)
                    }
                ]
            case .upload: (endpoint.method, endpoint.body) = ("PUT", .bytes([UInt8](repeating: 1, count: 32 << 20)))
            case .verdict:
                endpoint.retry?.base = .seconds(50)
                endpoint.retry?.limit = .seconds(50)
                endpoint.verdict = { _, _ in
                    reached.add(true)
                    return .retry("for a test")
                }
            default: break
            }
            let ends = Recording<BackplaneError.Code?>()
            let load = endpoint.load(on: http.relative(to: server.url()), call).onCompletion { result in
                if case .failure(let error) = result { ends.add(error.code) } else { ends.add(nil) }
            }
            _ = try await reached.first(1)
            load.cancel()
            _ = await load.result
            load.cancel()
            load.onCompletion { _ in ends.add(nil) }
            #expect(try await ends.first(2) == [.callCancelled, nil])
        }
    }

    @Test(arguments: ClientKind.all)
    func `cancelling a task cancels what it loads, and not a load that it waits for`(kind: ClientKind) async throws {
        let latch = Latch(), reached = Recording<Bool>()
        let server = try TestServer { request, connection in
            reached.add(true)
            guard request.target == "/held" else { return connection.stall() }
            latch.pass()
            connection.answer("200 OK", body: Array("whale".utf8))
        }
        try await kind.lend { http, call async throws in
            let http = http.relative(to: server.url())
            let load = Endpoint<String>("GET", "held").load(on: http, call)
            _ = try await reached.first(1)
            let waiting = Task { await load.result }
            waiting.cancel()
            latch.open()
            #expect(try await waiting.value.get() == "whale")
            let loading = Task {
                do { return try await http.load(Endpoint<String>("GET", "other"), call) } catch { return "\(error)" }
            }
            _ = try await reached.first(2)
            loading.cancel()
            #expect(await loading.value.contains("call.cancelled"))
            _ = await server.departures.first { _ in true }
        }
    }

    @Test func `a load of any type can be observed, cancelled and loaded again, with its callbacks`() async throws {
        let statuses = Recording<String>(), steps = Recording<String>(), events = Recording<ExchangeEvent>()
        let http = HTTPClient([
            MemoryExecutor { _, _ in
                statuses.add("asked")
                return .init(HTTPResponse(status: statuses.all.count == 1 ? 503 : 200, body: Array("whale".utf8)))
            }
        ]).relative(to: "https://books.example.org")
        let load = Endpoint<String>("GET", "shelf").load(on: http)
            .onSuccess { steps.add($0) }.onFailure { steps.add($0.code.rawValue) }.onCompletion { _ in steps.add("end")
            }
        let loads = [AnyLoad(load)]
        loads[0].observe { if $0.stage == .end { events.add($0) } }
        let error = try #require(try await events.first(1).first)
        #expect(error.failure?.httpStatus == 503 && error.endpoint == "GET shelf" && error.exchange == loads[0].id)
        let again = loads[0].reload()
        #expect(again.id != loads[0].id)
        #expect(try await events.first(2).last?.error == nil)
        #expect(events.all.last?.exchange == again.id)
        #expect(steps.all == ["network.status", "end", "whale", "end"])
        again.cancel()
        #expect(try await load.reload().value == "whale")
    }
}
