import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import Glibc
import Testing

/// What happens when there is no response.
@Suite(.timeLimit(.minutes(5)))
struct FailureTests {
    /// The error of a GET that must fail; in all of them, the URL is printed without its secrets, in one line.
    private func failure(_ engine: Engine, _ url: String, maximumBodySize: Int = 64 << 20) async throws
        -> BackplaneError
    {
        let executor = engine.executor()
        let secretive = url.replacing("://", with: "://ann:secret@", maxReplacements: 1) + "?key=secret"
        let error = try #require(
            await #expect(throws: BackplaneError.self) {
                try await executor.execute(HTTPRequest("GET", secretive), upTo: maximumBodySize)
            })
        #expect(error.location == url)
        #expect(!error.detailedDescription.contains("secret"))
        #expect(!error.message.contains("\n"))
        return error
    }

    /// RFC 6761: no name below `.invalid` exists.
    @Test(arguments: Engine.allCases)
    func `a name that is no host's is said to be unknown`(engine: Engine) async throws {
        let error = try await failure(engine, "http://library.invalid/books")
        #expect(error.code == .networkFailed)
        #expect(error.message == "the host name library.invalid cannot be resolved")
    }

    @Test
    func `a connection that is not accepted in time fails`() async throws {
        // Given a server that accepts nothing, and a queue that one connection fills
        let listener = try LoopbackSocket(backlog: 0)
        let first = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(first) }
        #expect(listener.withAddress { connect(first, $0, $1) } == 0)
        // The kernel may queue it later.
        var queued = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&queued, 1, 60_000) == 1)
        // When an executor with little patience connects
        let executor = AsyncHTTPClientExecutor(connectTimeout: .milliseconds(50))
        let request = HTTPRequest("GET", "http://127.0.0.1:\(listener.port)/")
        let error = try #require(await #expect(throws: BackplaneError.self) { try await executor.execute(request) })
        // Then it gives up
        #expect(error.code == .networkFailed)
        #expect(error.message == "127.0.0.1:\(listener.port) did not accept the connection in time")
    }

    @Test(arguments: Engine.allCases)
    func `an executor that has been shut down ends what is under way and carries out nothing more`(engine: Engine)
        async throws
    {
        let server = try TestServer { $1.stall() }
        let executor = engine.executor()
        let task = Task { try await executor.execute(HTTPRequest("GET", server.url())) }
        _ = await server.requests.first { _ in true }
        for _ in 1...2 { await executor.shutDown() }
        let ended = try #require(await #expect(throws: BackplaneError.self) { try await task.value })
        let refused = try #require(
            await #expect(throws: BackplaneError.self) { try await executor.execute(HTTPRequest("GET", server.url())) })
        for error in [ended, refused] {
            #expect(error.code == .networkShutDown)
            #expect(error.message.contains("shut down"))
        }
    }
}

extension HTTPExecutor {
    fileprivate func shutDown() async {
        await (self as? AsyncHTTPClientExecutor)?.shutdown()
        (self as? URLSessionExecutor)?.shutdown()
    }
}
