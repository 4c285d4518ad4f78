import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import FoundationEssentials

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
