public import Backplane
public import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Dispatch
import FoundationEssentials
import Synchronization

/// The conformance suite for HTTP executors, over real sockets on loopback.
///
/// ```swift
/// @Test func `my executor conforms`() async throws {
///     let report = await HTTPConformance.run { MyExecutor() }
///     try report.requireSuccess()
///     #expect(report.skipped.isEmpty)
/// }
/// ```
///
/// Cases that need a capability which the executor does not declare are skipped and listed. A separate case checks that
/// the executor refuses their requests. The caller names other rules that the executor is known not to follow.
public enum HTTPConformance {
    /// A case: a rule that executors must follow.
    struct Case: Sendable {
        var name: String
        var needs: HTTPCapabilities
        var body: @Sendable (any HTTPExecutor) async throws -> Void

        init(
            _ name: String, needs: HTTPCapabilities = [],
            _ body: @escaping @Sendable (any HTTPExecutor) async throws -> Void
        ) {
            (self.name, self.needs, self.body) = (name, needs, body)
        }
    }

    static let cases = requests + uploads + refusals + responses + streams + compression + failures + cancellation

    /// The names of all cases, in order.
    public static var caseNames: [String] { cases.map(\.name) }

    /// The cases that executors in plugins cannot follow, because they receive the whole body of a request, in memory
    /// or in a file, before any of it is sent.
    public static let pluginExceptions: Set<String> = [
        "a stream is read only as fast as the server takes it",
        "a response that comes before the body was sent is the response",
    ]

    /// Runs an executor through all cases, one after another.
    ///
    /// - Parameters:
    ///   - limit: The time limit of each case.
    ///   - exceptions: The names of cases that are skipped, because the executor is known not to follow their rules.
    ///   - starting: A function that is called with the name of each case before it runs, to identify a case that
    ///     crashes the process.
    ///   - make: A function that creates an executor for `http:` for each case.
    public static func run(
        limit: Duration = .seconds(60), except exceptions: Set<String> = [],
        starting: @Sendable (String) -> Void = { _ in },
        _ make: @Sendable () throws -> any HTTPExecutor
    ) async -> Report {
        var report = Report()
        for name in exceptions.subtracting(caseNames) {
            report.results.append(.init(name: name, outcome: .failed("there is no such case to skip")))
        }
        for item in cases {
            guard !exceptions.contains(item.name) else {
                report.results.append(.init(name: item.name, outcome: .skipped("it is an exception")))
                continue
            }
            starting(item.name)
            do {
                let executor = try make(), missing = item.needs.subtracting(executor.capabilities)
                guard missing.isEmpty else {
                    report.results.append(.init(name: item.name, outcome: .skipped("it does not have \(missing)")))
                    continue
                }
                try await Race.run(
                    { try await item.body(executor) }, within: limit, otherwise: Unmet("it took longer than \(limit)"))
                report.results.append(.init(name: item.name, outcome: .passed))
            } catch {
                report.results.append(.init(name: item.name, outcome: .failed("\(error)")))
            }
        }
        return report
    }
}

extension HTTPConformance {
    /// The outcomes of the suite.
    public struct Report: Sendable, CustomStringConvertible {
        /// The outcome of one case.
        public enum Outcome: Sendable, Equatable {
            /// The rule was followed.
            case passed
            /// The case needs a capability that the executor does not declare.
            case skipped(String)
            /// The rule was not followed.
            case failed(String)
        }
        /// A case and its outcome.
        public struct Result: Sendable {
            /// The rule, as a sentence.
            public var name: String
            /// The outcome, with the reason unless the case passed.
            public var outcome: Outcome
        }
        /// All cases in order.
        public internal(set) var results: [Result] = []

        /// The names of the skipped cases.
        public var skipped: [String] {
            results.filter { if case .skipped = $0.outcome { true } else { false } }.map(\.name)
        }

        /// The failed cases.
        public var failed: [Result] {
            results.filter { if case .failed = $0.outcome { true } else { false } }
        }

        /// Checks that no case has failed.
        ///
        /// - Throws: `conformance.failed` with a cause for each failed case.
        public func requireSuccess() throws(BackplaneError) {
            let failed = failed
            guard !failed.isEmpty else { return }
            throw BackplaneError(
                .conformanceFailed,
                "\(failed.count) of \(results.count) cases of the conformance suite failed; the first: \(failed[0].name): \(failed[0].outcome.reason)",
                causes: failed.map { BackplaneError(.conformanceFailed, "\($0.name): \($0.outcome.reason)") })
        }

        /// A line for each case.
        public var description: String {
            results.map { result in
                switch result.outcome {
                case .passed: "passed   \(result.name)"
                case .skipped(let why): "skipped  \(result.name): \(why)"
                case .failed(let why): "FAILED   \(result.name): \(why)"
                }
            }.joined(separator: "\n")
        }
    }
}

extension HTTPConformance.Report.Outcome {
    fileprivate var reason: String {
        switch self {
        case .passed: ""
        case .skipped(let why), .failed(let why): why
        }
    }
}

extension BackplaneError.Code {
    /// The code of the error for an executor or a store that violates a rule of its conformance suite.
    public static let conformanceFailed = Self(rawValue: "conformance.failed")
}

extension HTTPConformance {
    /// A violation of a rule.
    struct Unmet: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    /// Checks that two values are equal.
    static func expect<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
        if found != expected {
            throw Unmet("\(what): expected \("\(expected)".prefix(200)), found \("\(found)".prefix(200))")
        }
    }

    /// Checks that a condition holds.
    static func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw Unmet(what()) }
    }

    /// Returns the error that a step is required to throw.
    static func failure<Value>(_ what: String, _ step: () async throws -> Value) async throws -> BackplaneError {
        do {
            _ = try await step()
        } catch let error as BackplaneError {
            return error
        } catch {
            throw Unmet("\(what): expected a BackplaneError, found \(type(of: error)): \(error)")
        }
        throw Unmet("\(what): expected an error, found a response")
    }

    /// Waits for a condition.
    static func eventually(_ what: String, _ condition: () -> Bool) async throws {
        for _ in 0..<5_000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Unmet(what)
    }
}

extension [UInt8] {
    /// Returns bytes that repeat with a period that differs from the size of any buffer.
    static func pattern(count: Int) -> [UInt8] {
        var bytes = [UInt8](0...250)
        while bytes.count < count { bytes += bytes }
        return Array(bytes.prefix(count))
    }
}

/// A latch that blocks server threads until a case opens it.
package final class Latch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}

    /// Waits until the latch is open; call this on a thread of the server.
    package func pass() {
        semaphore.wait()
        semaphore.signal()
    }

    package func open() { semaphore.signal() }
}

/// A counter that several threads increment.
package final class Counted: Sendable {
    private let count = Atomic(0)

    package init() {}

    package var value: Int { count.load(ordering: .relaxed) }

    package func add(_ more: Int) { count.wrappingAdd(more, ordering: .relaxed) }

    /// Waits until the count has remained unchanged for a while.
    func settle() async throws {
        var last = -1, quiet = 0
        while quiet < 25 {
            quiet = value == last ? quiet + 1 : 0
            last = value
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

extension HTTPConformance {
    /// The cases about requests as the server receives them.
    static let requests: [Case] = [
        Case("method, target and body arrive as they were given") { executor in
            let server = try TestServer { request, connection in
                connection.answer("200 OK", [("X-Said", "\(request.method) \(request.target)")], body: request.body)
            }
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"] {
                let body: [UInt8] = method == "GET" ? [] : Array("line\r\n\0\u{FF}".utf8)
                let response = try await executor.execute(
                    HTTPRequest(method, server.url("/a%2Fb/c?q=%20&r=1#part"), body: body))
                try expect(response.headers["x-said"], "\(method) /a%2Fb/c?q=%20&r=1", "the request line")
                try expect(response.body, body, "the body of a \(method)")
            }
        },
        Case("only what a URL cannot contain is percent-encoded") { executor in
            let server = try TestServer { $1.answer("200 OK", [("X-Said", $0.target)]) }
            let response = try await executor.execute(
                HTTPRequest("GET", server.url("/caf%C3%A9 menu|[1]/é?sig=a%2Bb% c")))
            try expect(
                response.headers["x-said"], "/caf%C3%A9%20menu%7C%5B1%5D/%C3%A9?sig=a%2Bb%25%20c", "the target")
        },
        Case("header fields arrive with their values untouched, and framing is the executor's") { executor in
            let received = try await delivered(
                by: executor,
                HTTPRequest(
                    "GET", "", headers: ["X-Odd": "a;b=\"c, d\"\te", "X-Empty": "", "Content-Length": "7"]))
            try expect(received["X-Odd"], "a;b=\"c, d\"\te", "X-Odd")
            try expect(received["X-Empty"], "", "X-Empty")
            try expect(received["Content-Length"] == nil, "the caller's Content-Length was sent")
            try expect(received["Host"]?.hasPrefix("127.0.0.1:") == true, "Host is \(received["Host"] ?? "missing")")
        },
        Case("request fields of one name stay apart") { executor in
            let received = try await delivered(
                by: executor, HTTPRequest("GET", "", headers: ["X-Tag": "one", "X-Tag": "two"]))
            try expect(received.fields.filter { $0.name == "X-Tag" }.map(\.value), ["one", "two"], "the fields")
        },
        Case("nothing is sent that the caller did not choose") { executor in
            let server = try TestServer { $1.answer("200 OK", [("Set-Cookie", "id=1")], body: [1]) }
            for _ in 1...2 { _ = try await executor.execute(HTTPRequest("POST", server.url(), body: [1])) }
            var requests = server.requests.makeAsyncIterator()
            for _ in 1...2 {
                guard let received = await requests.next() else { throw Unmet("there was no request") }
                for name in ["Cookie", "Authorization", "Expect"] {
                    try expect(received[name] == nil, "\(name) was sent")
                }
                try expect(
                    ["identity", nil].contains(received["Accept-Encoding"]), "compression was asked for")
            }
        },
        Case("credentials in the URL go out as a field, and not in the URL") { executor in
            let server = try TestServer { $1.answer("204 No Content") }
            _ = try await executor.execute(HTTPRequest("GET", "http://ann:p%40ss@127.0.0.1:\(server.port)/"))
            let received = await server.requests.first { _ in true }
            try expect(received?["Authorization"], "Basic YW5uOnBAc3M=", "Authorization")
            try expect(received?.target, "/", "the target")
        },
        Case("the body's media type is sent unless the caller gave one") { executor in
            let form = HTTPBody.form(["title": "Moby Dick & more", "year": "1851"])
            var received = try await delivered(by: executor, HTTPRequest("POST", "", body: form))
            try expect(received["Content-Type"], "application/x-www-form-urlencoded", "Content-Type")
            try expect(String(decoding: received.body, as: UTF8.self), "title=Moby+Dick+%26+more&year=1851", "the form")
            received = try await delivered(
                by: executor, HTTPRequest("POST", "", headers: ["Content-Type": "text/x"], body: form))
            try expect(received["Content-Type"], "text/x", "Content-Type")
        },
        Case("a GET can have a body", needs: .contentInGET) { executor in
            let received = try await delivered(by: executor, HTTPRequest("GET", "", body: [1, 2, 3]))
            try expect(received.body, [1, 2, 3], "the body")
        },
        Case("five megabytes arrive whole") { executor in
            let body = [UInt8].pattern(count: 5 << 20)
            let received = try await delivered(by: executor, HTTPRequest("POST", "", body: body))
            try expect(received.body == body, "the body has \(received.body.count) bytes, or other ones")
        },
    ]

    /// Sends a request to a server that responds with 204, and returns the request as the server received it.
    static func delivered(by executor: any HTTPExecutor, _ request: HTTPRequest) async throws -> ReceivedRequest {
        let server = try TestServer { $1.answer("204 No Content") }
        var request = request
        request.url = server.url()
        let response = try await executor.execute(request)
        try expect(response.status, 204, "the status")
        guard let received = await server.requests.first(where: { _ in true }) else {
            throw Unmet("no request arrived")
        }
        return received
    }
}

extension HTTPConformance {
    /// The cases about bodies that are read while they are sent.
    static let uploads: [Case] = [
        Case("a file arrives whole, with its length") { executor in
            let bytes = [UInt8].pattern(count: 300_000)
            try await withFile(bytes) { path in
                let received = try await delivered(by: executor, HTTPRequest("PUT", "", body: .file(path)))
                try expect(received.body == bytes, "the body differs from the file")
                try expect(received["Content-Length"], "300000", "Content-Length")
            }
        },
        Case("a multipart form arrives as its parts, files from disk") { executor in
            let bytes = [UInt8].pattern(count: 200_000)
            try await withFile(bytes) { path in
                let received = try await delivered(
                    by: executor,
                    HTTPRequest(
                        "POST", "",
                        body: .multipart([.text("title", "Moby-Dick"), .file("cover", path, fileName: "a\"b.png")])))
                let type = received["Content-Type"] ?? ""
                try expect(type.hasPrefix("multipart/form-data; boundary="), "Content-Type is \(type)")
                let boundary = type.dropFirst("multipart/form-data; boundary=".count)
                let head =
                    "--\(boundary)\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nMoby-Dick\r\n--\(boundary)\r\n"
                    + "Content-Disposition: form-data; name=\"cover\"; filename=\"a%22b.png\"\r\n"
                    + "Content-Type: application/octet-stream\r\n\r\n"
                let whole = Array(head.utf8) + bytes + Array("\r\n--\(boundary)--\r\n".utf8)
                try expect(received.body == whole, "the body differs from the form")
                try expect(received["Content-Length"], "\(whole.count)", "Content-Length")
            }
        },
        Case("a missing file is an error, and nothing is sent") { executor in
            let server = try TestServer { $1.answer("204 No Content") }
            let error = try await failure("a missing file") {
                try await executor.execute(HTTPRequest("PUT", server.url(), body: .file("/nonexistent/whale")))
            }
            try expect(error.code, .networkBody, "the code")
            try await expectSilence(server, executor)
        },
        Case("a stream of known length has a Content-Length", needs: .streamedUploads) { executor in
            let received = try await delivered(
                by: executor, HTTPRequest("POST", "", body: .stream(chunks(["Call ", "me "]), length: 8)))
            try expect(received["Content-Length"], "8", "Content-Length")
            try expect(String(decoding: received.body, as: UTF8.self), "Call me ", "the body")
        },
        Case("a stream of unknown length is sent in chunks", needs: .streamedUploads) { executor in
            let received = try await delivered(
                by: executor, HTTPRequest("POST", "", body: .stream(chunks(["Call ", "", "me"]))))
            try expect(received["Transfer-Encoding"]?.lowercased(), "chunked", "Transfer-Encoding")
            try expect(String(decoding: received.body, as: UTF8.self), "Call me", "the body")
        },
        Case("a stream that fails halfway fails the exchange, and its connection", needs: .streamedUploads) {
            executor in
            let server = try TestServer { $1.answer("204 No Content") }
            struct Spilt: Error {}
            let body = HTTPBody.stream(
                AsyncThrowingStream<[UInt8], any Error> { stream in
                    stream.yield([1, 2, 3])
                    stream.finish(throwing: Spilt())
                }, length: 10)
            let error = try await failure("a stream that fails") {
                try await executor.execute(HTTPRequest("POST", server.url(), body: body))
            }
            try expect(error.code, .networkBody, "the code")
            try expect(error.message.contains("Spilt"), "the message does not name the reason: \(error.message)")
        },
        Case("a stream that is shorter or longer than announced fails the exchange", needs: .streamedUploads) {
            executor in
            for length in [Int64(5), 9] {
                let server = try TestServer { $1.answer("204 No Content") }
                let error = try await failure("a wrong length of \(length)") {
                    try await executor.execute(
                        HTTPRequest("POST", server.url(), body: .stream(chunks(["Call ", "me "]), length: length)))
                }
                try expect(error.code, .networkBody, "the code")
                try expect(error.message.contains("\(length) bytes"), "the message names no length: \(error.message)")
            }
        },
        Case("a stream is sent once, and a replayable body as often as wanted", needs: .streamedUploads) { executor in
            let server = try TestServer { $1.answer("200 OK", body: $0.body) }
            let once = HTTPBody.stream(chunks(["one"])), often = HTTPBody.replayable { chunks(["often"]) }
            try expect(!once.isReplayable && often.isReplayable, "the bodies do not say whether they are replayable")
            _ = try await executor.execute(HTTPRequest("POST", server.url(), body: once))
            let error = try await failure("a second sending") {
                try await executor.execute(HTTPRequest("POST", server.url(), body: once))
            }
            try expect(error.code, .networkBody, "the code")
            for _ in 1...2 {
                let response = try await executor.execute(HTTPRequest("POST", server.url(), body: often))
                try expect(String(decoding: response.body, as: UTF8.self), "often", "the body")
            }
        },
        Case("a stream is read only as fast as the server takes it", needs: .streamedUploads) {
            executor in
            let latch = Latch(), taken = Counted()
            defer { latch.open() }
            let server = try TestServer(readsBodies: false) { _, connection in
                latch.pass()
                connection.reset()
            }
            let total = moreThanBuffersHold >> 16
            let body = HTTPBody.replayable {
                AsyncStream<[UInt8]>(unfolding: {
                    taken.add(1)
                    return taken.value > total ? nil : [UInt8](repeating: 0, count: 64 << 10)
                })
            }
            let exchange = Task { try await executor.execute(HTTPRequest("POST", server.url(), body: body)) }
            try await eventually("the body was never asked for") { taken.value > 0 }
            try await taken.settle()
            try expect(
                taken.value < total / 2, "\(taken.value) of \(total) chunks were read though the server reads none")
            latch.open()
            exchange.cancel()
            _ = await exchange.result
        },
        Case("a response that comes before the body was sent is the response", needs: .streamedUploads) { executor in
            let server = try TestServer(readsBodies: false) { _, connection in
                connection.answer("413 Content Too Large", [("Connection", "close")])
                connection.stall()
            }
            let body = HTTPBody.replayable {
                AsyncStream<[UInt8]>(unfolding: {
                    try? await Task.sleep(for: .milliseconds(5))
                    return Task.isCancelled ? nil : [1]
                })
            }
            // The executor may or may not send the rest: only the head matters.
            let response = try await executor.open(HTTPRequest("POST", server.url(), body: body), HTTPOptions())
            try expect(response.status, 413, "the status")
        },
    ]

    /// Twice the maximum size of both sides' socket buffers, which is 32 MB each on recent kernels.
    static let moreThanBuffersHold = 256 << 20

    /// Returns strings as a sequence of chunks.
    static func chunks(_ texts: [String]) -> AsyncStream<[UInt8]> {
        AsyncStream { stream in
            for text in texts { stream.yield(Array(text.utf8)) }
            stream.finish()
        }
    }

    /// Runs a step with a file that contains the given bytes.
    static func withFile(_ bytes: [UInt8], _ step: (String) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appending(
            path: "conformance-\(UInt64.random(in: .min ... .max))")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await step(file.path)
    }

    /// Requires that the server has received nothing, so that one more request is the first to arrive.
    static func expectSilence(_ server: TestServer, _ executor: any HTTPExecutor) async throws {
        _ = try await executor.execute(HTTPRequest("GET", server.url("/probe")))
        let first = await server.requests.first { _ in true }
        try expect(first?.target, "/probe", "the first request that the server received")
    }
}
