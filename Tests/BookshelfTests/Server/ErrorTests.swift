#if Engines
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ErrorTests {
    @Test(arguments: ["/", "/v1", "/v3/books", "/v2/books/moby-dick/pages", "/v1/books/moby-dick/cover"])
    func `a path that leads nowhere is an error`(path: String) async throws {
        try await RunningServer.run { server in
            try await server.send("GET", path).expectError(404, "route.unknown")
            try await server.send("POST", path, body: "x").expectError(404, "route.unknown")
        }
    }

    @Test(arguments: [
        ("POST", "/v1/books", "GET, HEAD"), ("DELETE", "/v1/books/moby-dick", "GET, HEAD"),
        ("PUT", "/v1/search", "GET, HEAD"),
        ("POST", "/v2/books", "GET, HEAD"), ("PATCH", "/v2/books/moby-dick/cover", "GET, HEAD"),
        ("POST", "/v2/search", "GET, HEAD"),
        ("GET", "/v2/sessions", "POST"), ("DELETE", "/v2/loans", "GET, HEAD, POST"),
        ("GET", "/v2/loans/loan-1", "DELETE"),
        ("POST", "/v2/files/a", "DELETE, GET, HEAD, PUT"), ("POST", "/v2/events", "GET, HEAD"),
    ])
    func `a method that is not answered is told which ones are`(method: String, path: String, allowed: String)
        async throws
    {
        try await RunningServer.run { server in
            let answer = try await server.send(method, path)
            try answer.expectError(405, "method.not-allowed")
            #expect(answer.header("Allow") == allowed)
        }
    }

    @Test func `a request that is not HTTP is refused, and the server continues`() async throws {
        try await RunningServer.run { server in
            let connection = try RawConnection(to: server)
            connection.send("NONSENSE", "", "")
            #expect(connection.receive().hasPrefix("HTTP/1.1 400 "))
            #expect(try await server.send("GET", "/v1/books/walden").status == 200)
        }
    }
}
#endif
