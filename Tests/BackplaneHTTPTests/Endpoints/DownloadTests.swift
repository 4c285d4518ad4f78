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
        let files = try TestFolder(), folder = files.path
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
