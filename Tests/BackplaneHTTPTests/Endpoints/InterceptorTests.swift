import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Testing

/// Interceptors around loads: decorating, measuring, refusing, and answering without the network.
@Suite(.timeLimit(.minutes(5)))
struct InterceptorTests {
    @Test(arguments: ClientKind.all)
    func `those of the client are outside those of the endpoint, the first outermost`(kind: ClientKind) async throws {
        let server = try TestServer { $1.answer("200 OK", body: Array(($0["X-Way"] ?? "").utf8)) }
        let steps = Recording<String>()
        func named(_ name: String) -> HTTPInterceptor {
            HTTPInterceptor { request, next in
                var request = request
                request.headers["X-Way"] = (request.headers["X-Way"] ?? "") + name
                let response = try await next(request)
                steps.add("\(name) \(response.status)")
                return response
            }
        }
        try await kind.lend { http, call async throws in
            var http = http.relative(to: server.url()), endpoint = Endpoint<String>("GET", "")
            http.defaults.interceptors = [named("a"), named("b")]
            endpoint.interceptors = [named("c"), named("d")]
            #expect(try await http.load(endpoint, call) == "abcd")
        }
        #expect(steps.all == ["d 200", "c 200", "b 200", "a 200"])
    }

    @Test(arguments: ClientKind.all)
    func `one that answers itself is validated and decoded like the network, also into a file`(
        kind: ClientKind
    ) async throws {
        let files = try TestFolder(), folder = URL(filePath: files.path)
        try await kind.lend { http, call async throws in
            var http = http.relative(to: "http://nobody.invalid")
            http.defaults.interceptors = [
                HTTPInterceptor { request, _ in
                    let status = request.url.hasSuffix("books") ? 200 : 404
                    return HTTPStreamedResponse(HTTPResponse(status: status, body: Array("[1,2]".utf8)))
                }
            ]
            #expect(try await http.load(Endpoint<[Int]>("GET", "books"), call) == [1, 2])
            let error = await #expect(throws: BackplaneError.self) {
                let numbers = try await http.load(Endpoint<[Int]>("GET", "other"), call)
                return numbers
            }
            #expect(error?.httpStatus == 404)
            let name = kind.isInPlugin ? "numbers" : folder.path + "/numbers"
            if kind.isInPlugin { return }  // the component's folder is created by the host with its first download
            let file = try await http.load(Endpoint<DownloadedFile>("GET", "books", to: name), call)
            #expect(file.size == 5)
            #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "[1,2]")
        }
    }

    @Test(arguments: ClientKind.all)
    func `retries and redirects are inside, and a second call of the rest is a second exchange`(
        kind: ClientKind
    ) async throws {
        let received = Recording<String>()
        let server = try TestServer { request, connection in
            received.add(request.target)
            switch received.all.count {
            case 1: connection.answer("503 Unavailable")
            case 2: connection.answer("302 Found", [("Location", "/found")])
            default: connection.answer("200 OK", body: Array("whale".utf8))
            }
        }
        let count = Recording<Int>()
        try await kind.lend { http, call async throws in
            var endpoint = Endpoint<String>("GET", "start")
            endpoint.retry = .immediate
            endpoint.interceptors = [
                HTTPInterceptor { request, next in
                    count.add(try await next(request).timings.attempts)
                    return try await next(request)
                }
            ]
            #expect(try await http.relative(to: server.url()).load(endpoint, call) == "whale")
        }
        #expect(received.all == ["/start", "/start", "/found", "/start"])
        #expect(count.all == [2])
    }

    @Test(arguments: ClientKind.all)
    func `one of attempts runs for each, for its hosts, and not in a plugin`(kind: ClientKind) async throws {
        let received = Recording<String>()
        let server = try TestServer { request, connection in
            received.add("\(request["X-Attempt"] ?? "none") \(request["X-Other"] ?? "none")")
            connection.answer(received.all.count == 1 ? "503 Unavailable" : "200 OK")
        }
        let count = Counted()
        try await kind.lend { http, call async throws in
            var endpoint = Endpoint<Nothing>("GET", "start")
            endpoint.retry = .immediate
            endpoint.interceptors = [
                HTTPInterceptor(.attempt) { request, next in
                    count.add(1)
                    var request = request
                    request.headers["X-Attempt"] = "\(count.value)"
                    return try await next(request)
                },
                HTTPInterceptor(.attempt, hosts: ["books.test"]) { request, next in
                    var request = request
                    request.headers["X-Other"] = "seen"
                    return try await next(request)
                },
            ]
            let http = http.relative(to: server.url())
            guard kind.isInPlugin else {
                _ = try await http.load(endpoint, call)
                #expect(received.all == ["1 none", "2 none"])
                return
            }
            let refused = endpoint
            let error = await #expect(throws: BackplaneError.self) {
                let answer = try await http.load(refused, call)
                return answer
            }
            #expect(error?.code == .networkUnsupported && received.all.isEmpty)
        }
    }
}

extension RetryPolicy {
    /// The default rules without a delay worth mentioning.
    static var immediate: RetryPolicy {
        var policy = RetryPolicy()
        policy.base = .nanoseconds(1)
        return policy
    }
}
