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

    @Test(arguments: Engine.allCases)
    func `a server that is down accepts no connection`(engine: Engine) async throws {
        let held = try LoopbackSocket(backlog: nil)
        let error = try await failure(engine, "http://127.0.0.1:\(held.port)/books")
        #expect(error.code == .networkFailed)
        #expect(error.message == "127.0.0.1:\(held.port) refused the connection; is the server running?")
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

    @Test(
        arguments: Engine.allCases,
        [
            "", "HTTP/1.1", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        ])
    func `a response that breaks off is none`(engine: Engine, sent: String) async throws {
        let server = try TestServer { _, connection in
            connection.send(sent)
            connection.close()
        }
        let error = try await failure(engine, server.url("/books"))
        #expect(error.code == .networkFailed)
        #expect(error.message == "127.0.0.1:\(server.port) closed the connection before the response was complete")
    }

    /// URLSession on Linux ends the program over this one.
    @Test(arguments: Engine.allCases.filter { $0 != .urlSession })
    func `a response that breaks off within its head is none`(engine: Engine) async throws {
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Le")
            connection.close()
        }
        let error = try await failure(engine, server.url("/books"))
        #expect(error.code == .networkFailed)
        #expect(error.message == "127.0.0.1:\(server.port) closed the connection before the response was complete")
    }

    @Test(
        arguments: Engine.allCases,
        [
            "nonsense\r\n\r\n", "\u{1}\u{2}\u{3}\u{4}\r\n\r\n", "HTTP/1.1 two hundred\r\n\r\n",
            "SSH-2.0-OpenSSH_9.2\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: nonsense\r\n\r\n",
        ])
    func `what is not HTTP is no response`(engine: Engine, sent: String) async throws {
        let server = try TestServer { _, connection in
            connection.send(sent)
            connection.close()
        }
        let error = try await failure(engine, server.url("/books"))
        #expect([.networkFailed, .networkMalformed].contains(error.code))
        #expect(error.message.contains("127.0.0.1:\(server.port)"))
    }

    @Test(arguments: Engine.allCases)
    func `a server without TLS accepts no secure connection`(engine: Engine) async throws {
        let server = try TestServer(greeting: "HTTP/1.1 400 Bad Request\r\n\r\n") { $1.close() }
        let error = try await failure(engine, "https://127.0.0.1:\(server.port)/books")
        #expect(error.code == .networkInsecure)
        #expect(
            error.message
                == "no secure connection to 127.0.0.1:\(server.port) could be established: wrong version number")
    }

    @Test(
        arguments: Engine.allCases,
        [
            "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        ])
    func `a body over the limit is not read on`(engine: Engine, head: String) async throws {
        // Given a server that sends more than the limit and does not end
        let server = try TestServer { _, connection in
            connection.send(head)
            let kilobyte = String(repeating: "x", count: 1024)
            for _ in 1...200 { connection.send(head.contains("chunked") ? "400\r\n\(kilobyte)\r\n" : kilobyte) }
            connection.stall()
        }
        // When it is asked with a limit
        let error = try await failure(engine, server.url("/books"), maximumBodySize: 100_000)
        // Then there is an error, and the connection is given up
        #expect(error.code == .networkTooLarge)
        #expect(
            error.message
                == "the response body of 127.0.0.1:\(server.port) has more than 100000 bytes, which is the limit for bodies in memory"
        )
        _ = await server.departures.first { _ in true }
    }

    @Test(arguments: Engine.allCases)
    func `a body of just the limit is whole`(engine: Engine) async throws {
        let server = try TestServer { $1.answer("200 OK", body: .pattern(count: 100_000)) }
        let response = try await engine.executor().execute(HTTPRequest("GET", server.url()), upTo: 100_000)
        #expect(response.body.count == 100_000)
    }

    @Test(arguments: Engine.allCases, ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"])
    func `cancelling ends the exchange at once, and its connection`(engine: Engine, sent: String) async throws {
        let server = try TestServer { _, connection in
            connection.send(sent)
            connection.stall()
        }
        let executor = engine.executor()
        let task = Task { try await executor.execute(HTTPRequest("GET", server.url())) }
        _ = await server.requests.first { _ in true }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        _ = await server.departures.first { _ in true }
    }

    @Test(arguments: Engine.allCases)
    func `a cancelled task asks nothing`(engine: Engine) async throws {
        let server = try TestServer { $1.answer("200 OK") }
        let executor = engine.executor()
        let latch = Latch()
        let task = Task.detached {
            latch.pass()
            return try await executor.execute(HTTPRequest("GET", server.url()))
        }
        task.cancel()
        latch.open()
        await #expect(throws: CancellationError.self) { try await task.value }
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

    @Test(arguments: Engine.allCases)
    func `an executor that is dropped needs no farewell`(engine: Engine) async throws {
        let server = try TestServer { $1.answer("200 OK") }
        for _ in 1...10 { _ = try await engine.executor().execute(HTTPRequest("GET", server.url())) }
    }
}

extension HTTPExecutor {
    fileprivate func shutDown() async {
        await (self as? AsyncHTTPClientExecutor)?.shutdown()
        (self as? URLSessionExecutor)?.shutdown()
    }
}
