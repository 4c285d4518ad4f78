import Backplane
import BackplaneExchange
import BackplaneNetwork
import Foundation
import Synchronization
import Testing

@testable import BackplaneHost

/// The plugin of the step that brought `backplane.http/2`: in C, loaded from files and swapped for other editions.
@Suite(.timeLimit(.minutes(5)))
struct HTTPStepTests {
    private struct HTTPStepHost {
        let test: TestHost
        /// The number of sources that the plugin has released.
        var released: Int { test.log.all.count { $0.message == "source released" } }
        private let folder: LoadingFixture.Folder

        init(_ change: (inout HostOptions) -> Void = { _ in }, answer: @escaping MemoryExecutor.Answer) async throws {
            folder = try LoadingFixture.Folder()
            try folder.write(Self.library([]), as: "libHTTPStep.so")
            test = try TestHost(
                """
                {"manifestVersion": 1, "plugins": [{"library": "HTTPStep"}],
                 "managers": {"HTTPStep": {"className": "HTTPStepManager",
                   "communicationController": {"className": "HTTPStepCommunication"}}}}
                """, linked: [], in: folder
            ) { options in
                options.executors = [MemoryExecutor(answer: answer)]
                change(&options)
            }
            try await test.host.start()
        }

        private static func library(_ flags: [String]) throws -> [UInt8] {
            try LoadingFixture.library(
                of: String(contentsOfFile: CompatibilityFolder.path + "/Steps/http.c", encoding: .utf8),
                ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden"] + flags)
        }

        func ask(_ method: String, _ input: String = "http://books.test/", within limit: Duration? = nil)
            async throws(BackplaneError) -> Answer
        {
            let json = try await test.call("HTTPStep", method, "\"\(input)\"", within: limit)
            guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(json.utf8)) else {
                throw BackplaneError(.callInvalidOutput, json)
            }
            return answer
        }

        func swap(_ flags: String...) async throws -> SwapReport {
            let path = try folder.write(Self.library(flags), as: "libNext.so")
            return try await test.host.swap(library: path, SwapOptions(stepLimit: .seconds(60)))
        }

        /// The folder of the component's files.
        var clientFolder: String {
            get throws {
                let data = try FileTree.names(in: test.data).first { $0.hasPrefix("manifest-") }
                return "\(test.data)/\(try #require(data))/@network/HTTPStep@communicationController"
            }
        }
    }

    private struct Answer: Decodable, Equatable {
        var status = 200
        var received = 0
        var sum = 0
        var reports = 0
        var announced = 0
        var inOrder = true
        var left = 1_000_000
    }

    /// A response of `count` bytes, each of them 1, in chunks of a size.
    private static func ones(_ count: Int, by size: Int) -> HTTPStreamedResponse {
        let rest = Mutex(count)
        let body = HTTPBodyStream(length: Int64(count)) {
            let next = rest.withLock { rest in
                defer { rest -= min(rest, size) }
                return min(rest, size)
            }
            return next > 0 ? .bytes([UInt8](repeating: 1, count: next)) : .end(trailers: [:])
        }
        return HTTPStreamedResponse(status: 200, headers: ["Content-Length": "\(count)"], body: body)
    }

    @Test func `it reads a response in pieces, whatever the chunks`() async throws {
        for size in [100, 60_000, 200_001, 1_000_000] {
            let client = try await HTTPStepHost { _, _ in Self.ones(1_000_000, by: size) }
            let answer = try await client.ask("fetch")
            #expect(answer.received == 1_000_000 && answer.sum == 1_000_000 && answer.status == 200)
            await client.test.host.stop()
        }
    }

    @Test func `it downloads to a file of its own, with progress`() async throws {
        let client = try await HTTPStepHost { _, _ in Self.ones(1_000_000, by: 100_000) }
        let answer = try await client.ask("download")
        #expect(answer.received == 1_000_000 && answer.announced == 1_000_000 && answer.inOrder)
        #expect(answer.reports == 10)
        let path = try client.clientFolder
        #expect(try FileTree.names(in: path) == ["parcel"])
        #expect(try FileStatus(at: path + "/parcel").size == 1_000_000)
        #expect(try FileStatus(at: path).modeText == "700")
        await client.test.host.stop()
    }

    @Test func `it delivers what it makes while it is sent, again if that is needed`() async throws {
        let received = Mutex<[Int]>([])
        let client = try await HTTPStepHost { request, _ in
            for _ in 0..<2 {
                let bytes = try await request.body.open().collect(upTo: 2_000_000)
                received.withLock { $0.append(bytes.count) }
            }
            return HTTPStreamedResponse(HTTPResponse(status: 201))
        }
        #expect(try await client.ask("deliver") == Answer(status: 201, left: 0))
        #expect(received.withLock { $0 } == [1_000_000, 1_000_000])
        await client.test.host.stop()
    }

    @Test func `a body that is too short, fails or never comes fails the exchange, and its source is released`()
        async throws
    {
        let client = try await HTTPStepHost { request, _ in
            _ = try await request.body.open().collect(upTo: 2_000_000)
            return HTTPStreamedResponse(HTTPResponse(status: 201))
        }
        let short = await error { try await client.ask("deliverShort") }
        #expect(short?.message == "the request's body was announced with 1000000 bytes, but has only 500000")
        let failed = await error { try await client.ask("deliverNothing") }
        #expect(failed?.message == "the source failed")
        // Its source is released once it has answered the pull, which it does when the deadline cancels that. On a busy
        // machine the deadline may pass before there is a source; then it is tried with a later one.
        await eventually { client.released == 2 }
        for limit in [Duration.seconds(5), .seconds(20)] where client.released == 2 {
            let never = await error { try await client.ask("deliverNever", within: limit) }
            #expect(never?.code == .callDeadline)
            for _ in 0..<500 where client.released == 2 { try await Task.sleep(for: .milliseconds(10)) }
        }
        // That of the first attempt may have come late.
        #expect(client.released >= 3)
        await client.test.host.stop()
        #expect(!client.test.log.all.contains { $0.level >= .warning }, "\(client.test.log.all)")
    }

    @Test func `a response that is left alone ends`() async throws {
        let client = try await HTTPStepHost {
            $0.exchangeIdleLimit = .milliseconds(30)
        } answer: { _, _ in
            Self.ones(10, by: 1)
        }
        let left = await error { try await client.ask("leave") }
        #expect(left?.message.contains("was not read") == true, "\(String(describing: left))")
        await client.test.host.stop()
    }

    @Test func `what no host has yet is refused before anything is sent`() async throws {
        let client = try await HTTPStepHost { _, _ in
            Issue.record("it was sent")
            return Self.ones(1, by: 1)
        }
        for name in ["cache", "priority", "mock", "tea"] {
            let refused = await error { try await client.ask("askTooMuch", name) }
            #expect(refused?.code == .networkUnsupported && refused?.message.contains("`\(name)`") == true)
        }
        await client.test.host.stop()
    }

    @Test func `a request with text that is not UTF-8 is refused before anything is sent`() async throws {
        let client = try await HTTPStepHost { request, _ in
            #expect(request.url == "http://books.test/" && request.headers["X-A"] == "b")
            return Self.ones(1, by: 1)
        }
        for (part, words) in [
            ("method", "the method is not UTF-8"), ("url", "the URL is not UTF-8"),
            ("name", "the name of a header field is not UTF-8"),
            ("value", "the value of the header field X-A is not UTF-8"),
        ] {
            let refused = await error { try await client.ask("askBadly", part) }
            #expect(refused?.code == .networkRefused && refused?.message.hasPrefix(words) == true, "\(part)")
        }
        #expect(try await client.ask("askBadly", "nothing").received == 1)
        await client.test.host.stop()
    }

    @Test func `an exchange inside a call is finished by the old edition in a swap`() async throws {
        let latch = Latch()
        let client = try await HTTPStepHost { _, _ in
            await latch.pass()
            return Self.ones(1_000, by: 10)
        }
        async let answer = client.ask("fetch")
        await eventually { latch.arrived == 1 }
        #expect(try await client.swap("-DEDITION=\"2\"").outcome == .swapped)
        #expect(try await client.test.call("HTTPStep", "edition") == "2")
        latch.open()
        #expect(try await answer.received == 1_000)
        await client.test.host.stop()
    }
}
