import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Testing

/// What a server answers, and how it comes back.
@Suite(.timeLimit(.minutes(5)))
struct ResponseTests {
    @Test(
        arguments: Engine.allCases,
        ["200 OK", "201 Created", "404 Not Found", "418 I'm a teapot", "500 Oops", "503 Later"])
    func `any status is a response, with its body`(engine: Engine, status: String) async throws {
        let server = try TestServer { $1.answer(status, [("X-A", "1")], body: Array("said".utf8)) }
        let response = try await engine.executor().execute(HTTPRequest("GET", server.url()))
        #expect(response.status == Int(status.prefix(3)))
        #expect(response.headers["x-a"] == "1")
        #expect(response.body == Array("said".utf8))
    }

    @Test(arguments: Engine.allCases, [301, 302, 303, 307, 308])
    func `a redirect is the response, and is not followed`(engine: Engine, status: Int) async throws {
        let server = try TestServer { request, connection in
            connection.answer(
                "\(request.target == "/" ? status : 200) X", [("Location", "/elsewhere")], body: Array("moved".utf8))
        }
        let response = try await engine.executor().execute(HTTPRequest("GET", server.url()))
        #expect(response.status == status)
        #expect(response.headers["location"] == "/elsewhere")
        #expect(response.body == Array("moved".utf8))
    }

    @Test(arguments: Engine.allCases)
    func `the head of a body is a response without it`(engine: Engine) async throws {
        let server = try TestServer { $1.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n") }
        let response = try await engine.executor().execute(HTTPRequest("HEAD", server.url()), upTo: 100)
        #expect(response.status == 200)
        #expect(response.headers["content-length"] == "1000000")
        #expect(response.body.isEmpty)
    }

    @Test(arguments: Engine.allCases, [0, 1, 5 << 20])
    func `a body comes whole, whatever its size`(engine: Engine, size: Int) async throws {
        let body = [UInt8].pattern(count: size)
        let server = try TestServer { $1.answer("200 OK", body: body) }
        let response = try await engine.executor().execute(HTTPRequest("GET", server.url()))
        #expect(response.body == body)
    }

    @Test(arguments: Engine.allCases)
    func `a body without a length ends with its connection`(engine: Engine) async throws {
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\n\r\nCall me")
            connection.close()
        }
        let response = try await engine.executor().execute(HTTPRequest("GET", server.url()))
        #expect(String(decoding: response.body, as: UTF8.self) == "Call me")
    }

    @Test(arguments: Engine.allCases)
    func `header fields keep their order and number, where the engine tells them`(engine: Engine) async throws {
        let server = try TestServer {
            $1.answer(
                "200 OK", [("X-B", "1"), ("X-A", "2"), ("X-B", "3"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")])
        }
        let response = try await engine.executor().execute(HTTPRequest("GET", server.url()))
        let fields = response.headers.fields.map { "\($0.name)=\($0.value)" }
        if engine.keepsFieldsApart {
            #expect(fields == ["X-B=1", "X-A=2", "X-B=3", "Set-Cookie=a=1", "Set-Cookie=b=2", "Content-Length=0"])
        } else {
            #expect(fields == ["Content-Length=0", "Set-Cookie=a=1", "Set-Cookie=b=2", "X-A=2", "X-B=1, 3"])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a body and what is said of it agree when it is compressed`(engine: Engine) async throws {
        let compressed: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
        ]  // hello
        let server = try TestServer { $1.answer("200 OK", [("Content-Encoding", "gzip")], body: compressed) }
        let response = try await engine.executor().execute(HTTPRequest("GET", server.url()))
        if response.headers["Content-Encoding"] == "gzip" {
            #expect(response.body == compressed)
        } else {
            #expect(response.body == Array("hello".utf8))
            #expect(response.headers["Content-Length"] == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a connection is used again`(engine: Engine) async throws {
        let server = try TestServer { $1.answer("200 OK", body: [UInt8($1.number)]) }
        let executor = engine.executor()
        for _ in 1...3 { #expect(try await executor.execute(HTTPRequest("GET", server.url())).body == [0]) }
    }
}
