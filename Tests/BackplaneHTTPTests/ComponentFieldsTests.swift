import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import Synchronization
import Testing

/// What comes before and after a body inside a plugin: interim responses, and trailer fields both ways.
@Suite(.timeLimit(.minutes(5)))
struct ComponentFieldsTests {
    /// Reports an interim response, and answers with the request's body and its trailer fields.
    private static let echo = MemoryExecutor(capabilities: .all) { request, options in
        options.interim?(103, ["Link": "</whale.css>; rel=preload", "X-Target": request.url])
        let sent = try request.body.open()
        return HTTPStreamedResponse(
            status: 200,
            body: HTTPBodyStream {
                guard let chunk = try await sent.next() else {
                    var trailers = sent.trailers
                    trailers.add("X-Own", "2")
                    return .end(trailers: trailers)
                }
                return .bytes(chunk)
            })
    }

    @Test func `interim responses and trailer fields cross the boundary`() async throws {
        try await LendingPlugin.lent(.urlSession) {
            $0.executors = [Self.echo]
        } _: { _, context in
            let interim = Mutex<[(status: Int, headers: HTTPHeaders)]>([])
            var options = HTTPOptions()
            options.interim = { status, headers in interim.withLock { $0.append((status, headers)) } }
            let bytes = [UInt8](repeating: 7, count: 5_000)
            let body = HTTPBody.stream(Chunks(bytes, size: 900), trailers: { ["X-Sum": "35000", "X-None": ""] })
            let response = try await context.http.open(
                HTTPRequest("POST", "http://books.test/", body: body), context.begin(), options)
            let told = interim.withLock { $0 }
            #expect(told.map(\.status) == [103], "it comes before the response")
            #expect(told.first?.headers["Link"] == "</whale.css>; rel=preload")
            #expect(told.first?.headers["X-Target"] == "http://books.test/")
            #expect(response.status == 200 && response.trailers.fields.isEmpty)
            #expect(try await response.body.collect(upTo: 10_000) == bytes)
            let trailers = response.trailers.fields.map { "\($0.name): \($0.value)" }
            #expect(trailers == ["X-Sum: 35000", "X-None: ", "X-Own: 2"])
        }
    }

    @Test func `no interim response is reported that was not requested`() async throws {
        let asked = Mutex<[Bool]>([])
        let executor = MemoryExecutor(capabilities: .all) { request, options in
            asked.withLock { $0.append(options.interim != nil) }
            return try await Self.echo.open(request, options)
        }
        try await LendingPlugin.lent(.urlSession) {
            $0.executors = [executor]
        } _: { _, context in
            let response = try await context.http.send(
                HTTPRequest("POST", "http://books.test/", body: .text("whale")), context.begin())
            #expect(response.body == Array("whale".utf8))
        }
        #expect(asked.withLock { $0 } == [false])
    }
}
