import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import Foundation
import Testing

/// Responses whose framing is a case of RFC 9110 and 9112, and what the executors make of them.
@Suite(.timeLimit(.minutes(5)))
struct FramingTests {
    @Test func `AsyncHTTPClient does what the page says`() async throws {
        let http = AsyncHTTPClientExecutor(proxies: .none), page = try FramedResponse.page()
        for response in FramedResponse.all {
            let outcome = try await response.outcome(http)
            #expect(outcome == page[response.name]?.asyncHTTPClient, "\(response.name)")
        }
        await http.shutdown()
    }

    @Test func `the bytes of a field that are not UTF-8 are replaced`() async throws {
        let server = try TestServer { _, connection in
            connection.send(Array("HTTP/1.1 204 No Content\r\nX-A: caf".utf8) + [0xE9] + Array("\r\n\r\n".utf8))
        }
        let http = AsyncHTTPClientExecutor(proxies: .none)
        #expect(try await http.execute(HTTPRequest("GET", server.url())).headers["X-A"] == "caf\u{FFFD}")
        await http.shutdown()
    }

    @Test func `a head without end is an error, and is not held in memory`() async throws {
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\n")
            let line = "X-Filler: \(String(repeating: "x", count: 1_000))\r\n"
            for _ in 0..<100_000 where !connection.wasLeft { connection.send(line) }
        }
        let http = AsyncHTTPClientExecutor(proxies: .none)
        let error = await #expect(throws: BackplaneError.self) {
            try await http.execute(HTTPRequest("GET", server.url()))
        }
        #expect(error?.code == .networkMalformed, "\(String(describing: error))")
        _ = await server.departures.first { _ in true }
        await http.shutdown()
    }

    // MARK: URLSession, which may end the process, and is therefore tried in another one

    @Test func `URLSession does what the page says`() async throws {
        let page = try FramedResponse.page(), all = FramedResponse.all
        let numbers = all.indices.filter { page[all[$0].name]?.urlSession != FramedResponse.death }
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [numbers = numbers as [Int]] in
            let http = URLSessionExecutor()
            for number in numbers {
                let outcome = try await FramedResponse.all[number].outcome(http)
                FileHandle.standardOutput.write(Data("case \(number) \(outcome)\n".utf8))
            }
        }
        let lines = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
        for number in numbers {
            let prefix = "case \(number) ", line = lines.first { $0.hasPrefix(prefix) }
            #expect(line?.dropFirst(prefix.count) == page[all[number].name]?.urlSession[...], "\(all[number].name)")
        }
    }

    @Test func `URLSession ends the process where the page says so`() async throws {
        let page = try FramedResponse.page(), all = FramedResponse.all
        let numbers = all.indices.filter { page[all[$0].name]?.urlSession == FramedResponse.death }
        #expect(!numbers.isEmpty)
        for number in numbers {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardOutputContent]) {
                [number = number as Int] in
                let outcome = try? await FramedResponse.all[number].outcome(URLSessionExecutor())
                FileHandle.standardOutput.write(Data("case \(number) \(outcome ?? "")\n".utf8))
            }
            let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
            #expect(!text.contains("case"), "\(all[number].name): \(text)")
        }
    }
}
