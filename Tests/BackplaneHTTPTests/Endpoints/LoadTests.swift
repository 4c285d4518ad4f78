import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHost
import BackplaneTestKit
import BackplaneURLSession
import Dispatch
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneNetwork

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

/// Downloads through the stages of the pipeline: redirects, retries, and files that are not valid yet.
@Suite(.timeLimit(.minutes(5)))
struct DownloadTests {
    /// Runs `body` with a client and a path to download to, by an executor that holds few bytes in memory.
    private func withLittleMemory(
        inPlugin: Bool, _ body: (HTTPClient, Call, _ path: String) async throws -> Void
    ) async throws {
        let executor = URLSessionExecutor(maximumBodySize: 10_000)
        if inPlugin {
            try await LendingPlugin.lent(.urlSession) {
                $0.executors = [executor]
            } _: { _, context in
                try await body(context.http, context.begin(), context.folder + "/whale")
            }
        } else {
            try await withFolder { try await body(HTTPClient([executor]), Call(), $0 + "/whale") }
        }
    }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let files = try TestFolder(), folder = files.path
        try await body(folder)
    }

    @Test(arguments: [false, true])
    func `a body that does not fit into memory goes to its file, also after redirects and retries`(
        inPlugin: Bool
    ) async throws {
        let whale = [UInt8](repeating: 7, count: 1_000_000), count = Mutex(0)
        let server = try TestServer { request, connection in
            let number = count.next()
            switch request.target {
            case "/moved": connection.answer("302 Found", [("Location", "/whale")], body: Array("elsewhere".utf8))
            case "/whale" where number == 2: connection.answer("503 Unavailable", body: Array("not yet".utf8))
            default: connection.answer("200 OK", body: whale)
            }
        }
        try await withLittleMemory(inPlugin: inPlugin) { http, call, path in
            var endpoint = Endpoint<DownloadedFile>("GET", "moved", to: path)
            endpoint.retry = .immediate
            endpoint.verdict = { _, response in response.timings.attempts == 2 ? .accept : .reject("the attempts") }
            let file = try await http.relative(to: server.url()).load(endpoint, call)
            #expect(file.size == 1_000_000)
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(whale))
            let folder = URL(filePath: path).deletingLastPathComponent().path
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["whale"])
        }
    }

    @Test(arguments: ClientKind.all)
    func `a download whose body breaks off is made again from its start`(kind: ClientKind) async throws {
        let count = Mutex(0)
        let server = try TestServer { _, connection in
            let number = count.next()
            guard number % 2 == 1 else { return connection.answer("200 OK", body: Array("whole whale".utf8)) }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhalf")
            connection.close()
        }
        try await withFolder { folder in
            try await kind.lend { http, call async throws in
                let path = kind.isInPlugin ? "whale" : folder + "/whale", last = Mutex(HTTPProgress())
                var options = HTTPOptions()
                options.retry = .immediate
                options.progress = { progress in last.withLock { $0 = progress } }
                let response = try await http.download(HTTPRequest("GET", server.url()), to: path, call, options)
                #expect(response.status == 200 && response.timings.attempts == 2)
                #expect(last.withLock { $0.received } == 11, "what came before is not counted")
                var endpoint = Endpoint<DownloadedFile>("GET", "", to: path)
                endpoint.retry = .immediate
                #expect(try await http.relative(to: server.url()).load(endpoint, call).size == 11)
                #expect(count.withLock { $0 } == 4)
                endpoint.method = "POST"
                let error = await #expect(throws: BackplaneError.self) {
                    let file = try await http.relative(to: server.url()).load(endpoint, call)
                    return file.size
                }
                #expect(error?.code == .networkFailed && count.withLock { $0 } == 5)
            }
        }
    }

    @Test(arguments: ClientKind.all)
    func `what is not the result never takes the place of a file`(kind: ClientKind) async throws {
        let server = try TestServer { request, connection in
            connection.answer("302 Found", [("Location", request.target + "x")], body: Array("elsewhere".utf8))
        }
        try await withFolder { folder in
            try await kind.lend { http, call async throws in
                let path = kind.isInPlugin ? http.way.file("whale") : folder + "/whale"
                try FileManager.default.createDirectory(
                    at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data("before".utf8).write(to: URL(filePath: path))
                var options = HTTPOptions()
                options.redirects = 2
                let error = await #expect(throws: BackplaneError.self) {
                    try await http.download(HTTPRequest("GET", server.url()), to: path, call, options)
                }
                #expect(error?.code == .networkRedirect)
                #expect(try String(contentsOfFile: path, encoding: .utf8) == "before")
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `a file that cannot be written is no reason to ask a server again`(engine: Engine) async throws {
        let count = Mutex(0)
        let server = try TestServer { _, connection in
            count.withLock { $0 += 1 }
            connection.answer("200 OK", body: [1])
        }
        try await withFolder { folder in
            var options = HTTPOptions()
            options.retry = .immediate
            let error = await #expect(throws: BackplaneError.self) {
                try await HTTPPipeline([engine.executor()])
                    .download(HTTPRequest("GET", server.url()), to: folder + "/none/whale", options)
            }
            #expect(error?.code == .networkFile && error?.location == folder + "/none/whale")
            let load = Endpoint<DownloadedFile>("GET", "whale", to: folder + "/none/whale")
            let failed = await #expect(throws: BackplaneError.self) {
                try await HTTPClient([engine.executor()]).relative(to: server.url()).load(load)
            }
            #expect(failed?.code == .networkFile && failed?.location == folder + "/none/whale", "not a temporary file")
            #expect(count.withLock { $0 } <= 2)
        }
    }

    @Test(arguments: Engine.allCases)
    func `what a killed program left in a folder is removed by the next first download`(engine: Engine) async throws {
        let server = try TestServer { $1.answer("200 OK", body: [1]) }
        try await withFolder { folder in
            let files = FileManager.default
            try files.createDirectory(atPath: folder + "/sub", withIntermediateDirectories: true)
            func write(_ name: String, isOld: Bool = true) throws {
                try Data([1]).write(to: URL(filePath: "\(folder)/\(name)"))
                guard isOld else { return }
                try files.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: "\(folder)/\(name)")
            }
            let mark = ".backplane-judged-", others = ["judged", mark + "0123", "sub/" + mark + "0000000000000000"]
            for name in others { try write(name) }
            try write(mark + "1111111111111111", isOld: false)  // another program may be about to validate it
            let network = HTTPPipeline([engine.executor()])
            try write(mark + "0123456789abcdef")
            try write(".backplane-incoming-0123456789abcdef", isOld: false)
            for _ in 1...2 { _ = try await network.download(HTTPRequest("GET", server.url()), to: folder + "/whale") }
            let expected = others + [mark + "1111111111111111", "sub", "whale"]
            #expect(try files.subpathsOfDirectory(atPath: folder).sorted() == expected.sorted())
        }
    }
}

/// Downloads that are cancelled while their files are written or validated.
@Suite(.timeLimit(.minutes(5)))
struct CancelledDownloadTests {
    /// The stages that a download is in when it is cancelled.
    enum Stage: CaseIterable {
        case body, validation
    }

    @Test(arguments: ClientKind.all, Stage.allCases)
    func `a download that is cancelled leaves no file, neither of a part nor of the whole`(
        kind: ClientKind, stage: Stage
    ) async throws {
        let server = try TestServer { _, connection in
            guard stage == .body else { return connection.answer("200 OK", body: Array("whole whale".utf8)) }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhalf")
            connection.stall()
        }
        let files = try TestFolder(), folder = files.path
        try await kind.lend { http, call async throws in
            let path = kind.isInPlugin ? http.way.file("whale") : folder + "/whale", received = Recording<Int64>()
            let place = URL(filePath: path).deletingLastPathComponent().path
            func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: place) }
            var endpoint = Endpoint<DownloadedFile>("GET", "", to: path)
            if stage == .validation {
                endpoint.interceptors = [
                    HTTPInterceptor { request, next in
                        let response = try await next(request)
                        received.add(11)
                        try await TestGate().pass()
                        return response
                    }
                ]
            }
            let load = endpoint.load(on: http.relative(to: server.url()), call)
                .onProgress { if stage == .body { received.add($0.received) } }
            _ = try await received.first { $0 > 0 }
            try await eventually { try !names().isEmpty }
            if stage == .validation { #expect(try names().allSatisfy { $0.hasPrefix(".backplane-judged-") }) }
            load.cancel()
            guard case .failure(let error) = await load.result else {
                return #expect(Bool(false), "it has a file")
            }
            #expect(error.code == .callCancelled)
            try await eventually { try names() == [] }
        }
    }
}
