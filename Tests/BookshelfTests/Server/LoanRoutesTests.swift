#if Engines
@testable import BookshelfServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LoanRoutesTests {
    private struct List: Decodable {
        var items: [Loan]
    }
    private struct Session: Decodable {
        var token: String
        var expiresIn: Int
    }

    @Test func `a book is borrowed, listed and given back`() async throws {
        try await RunningServer.run { server in
            let reader = try await server.signIn()
            let answer = try await server.send("POST", "/v2/loans", reader, body: #"{"book": "moby-dick"}"#)
            #expect(answer.status == 201)
            let loan = try answer.decoded(Loan.self)
            #expect(loan.book == "moby-dick")
            #expect(answer.header("Location") == "/v2/loans/\(loan.id)")
            let due = try Date(loan.due, strategy: .iso8601)
            #expect(abs(due.timeIntervalSinceNow - Loans.period) < 60)
            #expect(try await server.send("GET", "/v2/loans", reader).decoded(List.self).items == [loan])

            let end = try await server.send("DELETE", "/v2/loans/\(loan.id)", reader)
            #expect(end.status == 204)
            #expect(end.data.isEmpty)
            #expect(try await server.send("GET", "/v2/loans", reader).text == #"{"items":[]}"#)
        }
    }

    @Test func `a list of loans has an entity tag that changes with it`() async throws {
        try await RunningServer.run { server in
            var request = try await server.signIn()
            let tag = try #require(try await server.send("GET", "/v2/loans", request).header("ETag"))
            request["If-None-Match"] = tag
            #expect(try await server.send("GET", "/v2/loans", request).status == 304)
            _ = try await server.send("POST", "/v2/loans", request, body: #"{"book": "walden"}"#)
            #expect(try await server.send("GET", "/v2/loans", request).status == 200)
        }
    }

    @Test func `a book that is lent, a book that is not there and a loan that is not there are errors`() async throws {
        try await RunningServer.run { server in
            let reader = try await server.signIn()
            _ = try await server.send("POST", "/v2/loans", reader, body: #"{"book": "walden"}"#)
            try await server.send("POST", "/v2/loans", reader, body: #"{"book": "walden"}"#).expectError(
                409, "loan.taken")
            try await server.send("POST", "/v2/loans", reader, body: #"{"book": "nothing"}"#).expectError(
                404, "book.unknown")
            try await server.send("DELETE", "/v2/loans/loan-9", reader).expectError(404, "loan.unknown")
        }
    }

    @Test(arguments: ["", "{", "[]", "{}", #"{"book": 1}"#, "null"])
    func `a body that is not what was asked for is refused`(body: String) async throws {
        try await RunningServer.run { server in
            let reader = try await server.signIn()
            try await server.send("POST", "/v2/loans", reader, body: body).expectError(400, "body.invalid")
            try await server.send("POST", "/v2/sessions", body: body).expectError(400, "body.invalid")
        }
    }

    @Test func `a body of JSON is bounded`() async throws {
        try await RunningServer.run { server in
            let body = #"{"book": ""# + String(repeating: "a", count: 20_000) + #""}"#
            try await server.send("POST", "/v2/sessions", body: body).expectError(413, "body.too-large")
            try await server.send("POST", "/v2/loans", try await server.signIn(), body: body).expectError(
                413, "body.too-large")
        }
    }

    @Test func `a session says how long its token is good for`() async throws {
        try await RunningServer.run("--token-lifetime", "7", "--reader", "grace", "--password", "hopper") { server in
            let answer = try await server.send(
                "POST", "/v2/sessions", body: #"{"reader": "grace", "password": "hopper"}"#)
            #expect(answer.status == 201)
            #expect(answer.header("Cache-Control") == "no-store")
            #expect(try answer.decoded(Session.self).expiresIn == 7)
        }
    }

    @Test(arguments: [
        #"{"reader": "ada", "password": "x"}"#, #"{"reader": "x", "password": "difference-engine"}"#,
        #"{"reader": "", "password": ""}"#,
    ])
    func `wrong credentials get no token`(body: String) async throws {
        try await RunningServer.run { server in
            let answer = try await server.send("POST", "/v2/sessions", body: body)
            try answer.expectError(401, "credentials.wrong")
            #expect(answer.header("WWW-Authenticate") == "Bearer")
        }
    }

    private static let guarded = [
        ("GET", "/v2/loans"), ("POST", "/v2/loans"), ("DELETE", "/v2/loans/loan-1"), ("PUT", "/v2/files/a"),
        ("DELETE", "/v2/files/a"),
    ]

    @Test(arguments: guarded)
    func `without a token nothing is lent or stored`(method: String, path: String) async throws {
        try await RunningServer.run { server in
            for headers in [
                [:], ["Authorization": "Basic YWRhOng="], ["Authorization": "Bearer"], ["Authorization": "Bearer a b"],
            ] {
                let answer = try await server.send(method, path, headers)
                try answer.expectError(401, "token.missing")
                #expect(answer.header("WWW-Authenticate") == "Bearer")
            }
            let answer = try await server.send(method, path, ["Authorization": "Bearer abc"])
            try answer.expectError(401, "token.unknown")
            #expect(answer.header("WWW-Authenticate") == "Bearer")
        }
    }

    @Test(arguments: guarded)
    func `an expired token is told apart from an unknown one`(method: String, path: String) async throws {
        try await RunningServer.run("--token-lifetime", "0") { server in
            let answer = try await server.send(method, path, try await server.signIn())
            try answer.expectError(401, "token.expired")
            #expect(answer.header("WWW-Authenticate") == "Bearer")
        }
    }

    @Test func `a token of another server is unknown`() async throws {
        let reader = try await RunningServer.run { try await $0.signIn() }
        try await RunningServer.run { try await $0.send("GET", "/v2/loans", reader).expectError(401, "token.unknown") }
    }
}
#endif
