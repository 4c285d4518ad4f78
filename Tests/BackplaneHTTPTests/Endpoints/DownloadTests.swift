import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneTestKit
import BackplaneURLSession
import Foundation
import Synchronization
import Testing

@testable import BackplaneNetwork

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
        let folder = FileManager.default.temporaryDirectory.appending(path: "download-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    @Test(arguments: [false, true])
    func `a body that does not fit into memory goes to its file, also after redirects and retries`(
        inPlugin: Bool
    ) async throws {
        let whale = [UInt8](repeating: 7, count: 1_000_000), count = Mutex(0)
        let server = try TestServer { request, connection in
            let number = count.withLock { count in
                count += 1
                return count
            }
            switch request.target {
            case "/moved": connection.answer("302 Found", [("Location", "/whale")], body: Array("elsewhere".utf8))
            case "/whale" where number == 2: connection.answer("503 Unavailable", body: Array("not yet".utf8))
            default: connection.answer("200 OK", body: whale)
            }
        }
        try await withLittleMemory(inPlugin: inPlugin) { http, call, path in
            var endpoint = Endpoint<DownloadedFile>("GET", "moved", to: path)
            endpoint.retry = .immediate
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
            let number = count.withLock { count in
                count += 1
                return count
            }
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
    func `the limit of a body is that of the result`(engine: Engine) async throws {
        let server = try TestServer { request, connection in
            let isThere = request.target == "/there"
            let body = [UInt8](repeating: 7, count: isThere ? 10 : 5_000)
            connection.answer(isThere ? "200 OK" : "302 Found", isThere ? [] : [("Location", "/there")], body: body)
        }
        try await withFolder { folder in
            var options = HTTPOptions()
            (options.redirects, options.maximumBodySize) = (1, 100)
            let network = HTTPPipeline([engine.executor()]), path = folder + "/whale"
            let response = try await network.download(HTTPRequest("GET", server.url()), to: path, options)
            #expect(try response.status == 200 && Data(contentsOf: URL(filePath: path)).count == 10)
            options.maximumBodySize = 9
            let error = await #expect(throws: BackplaneError.self) {
                try await network.download(HTTPRequest("GET", server.url()), to: path, options)
            }
            #expect(error?.code == .networkTooLarge)
        }
    }

    @Test func `a response that an interceptor puts in the place of a download is the file`() async throws {
        let executor = MemoryExecutor { _, _ in
            HTTPStreamedResponse(HTTPResponse(status: 200, body: Array("loaded".utf8)))
        }
        try await withFolder { folder in
            let path = folder + "/whale", http = HTTPClient([executor]).relative(to: "http://example.org/")
            for (isReplaced, expected) in [(true, "kept before"), (false, "loaded")] {
                var endpoint = Endpoint<DownloadedFile>("GET", "", to: path)
                endpoint.interceptors = [
                    HTTPInterceptor { request, next in
                        var response = try await next(request)
                        let body = response.body
                        response.body = isReplaced ? HTTPBodyStream(Array("kept before".utf8)) : HTTPBodyStream(body)
                        return response
                    }
                ]
                let file = try await http.load(endpoint)
                let content = try String(contentsOfFile: path, encoding: .utf8)
                #expect(content == expected && file.size == Int64(expected.utf8.count))
            }
        }
    }

    @Test func `an empty response that an interceptor puts in the place of a download is the file, too`() async throws {
        let executor = MemoryExecutor { _, _ in
            HTTPStreamedResponse(HTTPResponse(status: 200, body: Array("loaded".utf8)))
        }
        try await withFolder { folder in
            let path = folder + "/whale"
            var endpoint = Endpoint<DownloadedFile>("GET", "", to: path)
            endpoint.interceptors = [
                HTTPInterceptor { request, next in
                    _ = try await next(request)
                    return HTTPStreamedResponse(HTTPResponse(status: 200))
                }
            ]
            let file = try await HTTPClient([executor]).relative(to: "http://example.org/").load(endpoint)
            #expect(try file.size == 0 && Data(contentsOf: URL(filePath: path)).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases, ["302 Found", "503 Unavailable"])
    func `a body that is too large is no error of a response that is not the result`(engine: Engine, status: String)
        async throws
    {
        let server = try TestServer { request, connection in
            let isFirst = request.target == "/" && request["X-Attempt"] == nil
            guard isFirst else { return connection.answer("200 OK", body: Array("whale".utf8)) }
            connection.answer(status, [("Location", "/there")], body: [UInt8](repeating: 7, count: 50_000))
        }
        let attempts = Mutex(0)
        let network = HTTPPipeline(
            [engine.executor()],
            filters: [
                ExchangeFilter(
                    "counting",
                    attempts: { _ in
                        let number = attempts.withLock { count in
                            count += 1
                            return count
                        }
                        return number > 1 ? ["X-Attempt": "\(number)"] : [:]
                    })
            ])
        var options = HTTPOptions()
        (options.redirects, options.retry, options.maximumBodySize) = (1, .immediate, 1_000)
        let response = try await network.send(HTTPRequest("GET", server.url()), options)
        #expect(response.status == 200 && response.body == Array("whale".utf8))
    }

    @Test(arguments: Engine.allCases)
    func `the time between bytes begins with the head, and the head is that of the last attempt`(engine: Engine)
        async throws
    {
        let answered = Recording<ContinuousClock.Instant>()
        let server = try TestServer { _, connection in
            Thread.sleep(forTimeInterval: 11)
            answered.add(.now)
            guard answered.all.count == 1 else { return connection.answer("200 OK", body: Array("whole whale".utf8)) }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhalf")
            connection.close()
        }
        try await withFolder { folder in
            var options = HTTPOptions()
            (options.readTimeout, options.retry) = (.seconds(10), .immediate)
            let response = try await HTTPPipeline([engine.executor()])
                .download(HTTPRequest("GET", server.url()), to: folder + "/whale", options)
            let times = answered.all
            #expect(response.timings.attempts == 2 && times.count == 2)
            #expect(try #require(response.timings.head) >= times[1] - times[0])
        }
    }

    @Test func `a failed download whose body is not kept leaves no file open`() async throws {
        let executor = MemoryExecutor { _, _ in
            HTTPStreamedResponse(HTTPResponse(status: 404, body: Array("nowhere".utf8)))
        }
        try await withFolder { folder in
            var endpoint = Endpoint<DownloadedFile>("GET", "", to: folder + "/whale")
            for limit in [0, 3, 100] {
                endpoint.failureLimit = limit
                let load = endpoint.load(on: HTTPClient([executor]).relative(to: "http://example.org/"))
                guard case .failure(let error) = await load.result else {
                    Issue.record("it has a value")
                    return
                }
                let kept: [UInt8]? = limit == 0 ? nil : Array("nowhere".utf8.prefix(limit))
                #expect(error.httpStatus == 404 && error.httpBody == kept)
            }
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
            }
            #expect(!open.contains { $0.hasPrefix(folder) })
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test func `a download that was given up writes no file afterwards`() async throws {
        let gate = TestGate(), counted = Mutex(0)
        let executor = MemoryExecutor { _, _ in
            let count = Mutex(0)
            let body = HTTPBodyStream {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                guard number == 1 else { return .end(trailers: [:]) }
                await Task { try? await gate.pass() }.value  // whether it is cancelled or not
                return .bytes([1, 2, 3])
            }
            return HTTPStreamedResponse(status: 200, body: body)
        }
        try await withFolder { folder in
            var options = HTTPOptions()
            options.totalTimeout = .milliseconds(200)
            options.received = { count in counted.withLock { $0 += count } }
            let error = await #expect(throws: BackplaneError.self) {
                try await HTTPPipeline([executor])
                    .download(HTTPRequest("GET", "http://example.org"), to: folder + "/whale", options)
            }
            #expect(error?.code == .networkTimeout)
            gate.open()
            try await eventually { try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty }
            #expect(counted.withLock { $0 } == 0)
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
            #expect(count.withLock { $0 } <= 1)
        }
    }

    @Test(arguments: ClientKind.all)
    func `a file that is still to be judged has a name that is removed after a crash`(kind: ClientKind) async throws {
        let server = try TestServer { $1.answer("200 OK", body: [1]) }
        try await withFolder { folder in
            try await kind.lend { http, call async throws in
                let folder = kind.isInPlugin ? String(http.way.file("").dropLast()) : folder
                var endpoint = Endpoint<DownloadedFile>("GET", "", to: folder + "/whale")
                let names = Mutex<[String]>([])
                endpoint.interceptors = [
                    HTTPInterceptor { request, next in
                        let response = try await next(request)
                        let found = try FileManager.default.contentsOfDirectory(atPath: folder)
                        names.withLock { $0 = found }
                        return response
                    }
                ]
                _ = try await http.relative(to: server.url()).load(endpoint, call)
                let name = try #require(names.withLock { $0.count == 1 ? $0[0] : nil })
                try Data([1]).write(to: URL(filePath: folder + "/" + name))
                IncomingFile.removeAbandoned(in: folder)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["whale"])
            }
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
            let mark = ".backplane-judged-", locked = mark + "2222222222222222"
            let others = ["judged", mark + "0123", "sub/" + mark + "0000000000000000", locked]
            for name in others { try write(name) }
            try write(mark + "1111111111111111", isOld: false)  // another program may be about to validate it
            let held = try #require(IncomingFile.lock("\(folder)/\(locked)"))
            defer { close(held) }
            let network = HTTPPipeline([engine.executor()])
            try write(mark + "0123456789abcdef")
            try write(".backplane-incoming-0123456789abcdef", isOld: false)
            for _ in 1...2 { _ = try await network.download(HTTPRequest("GET", server.url()), to: folder + "/whale") }
            let expected = others + [mark + "1111111111111111", "sub", "whale"]
            #expect(try files.subpathsOfDirectory(atPath: folder).sorted() == expected.sorted())
        }
    }

    @Test(arguments: ClientKind.all)
    func `a file that is being judged is locked, however long that takes`(kind: ClientKind) async throws {
        let server = try TestServer { $1.answer("200 OK", body: [1]) }
        try await withFolder { folder in
            try await kind.lend { http, call async throws in
                let folder = kind.isInPlugin ? String(http.way.file("").dropLast()) : folder
                var endpoint = Endpoint<DownloadedFile>("GET", "", to: folder + "/whale")
                endpoint.interceptors = [
                    HTTPInterceptor { request, next in
                        let response = try await next(request), files = FileManager.default
                        for name in try files.contentsOfDirectory(atPath: folder) {
                            try files.setAttributes(
                                [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: "\(folder)/\(name)")
                        }
                        IncomingFile.removeAbandoned(beside: folder + "/whale")
                        return response
                    }
                ]
                _ = try await http.relative(to: server.url()).load(endpoint, call)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["whale"])
            }
        }
    }
}
