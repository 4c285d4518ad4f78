import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneURLSession
import Testing

/// The executors of this package, and one that breaks rules, run through the suite.
@Suite(.timeLimit(.minutes(10)))
struct ConformanceTests {
    @Test func `AsyncHTTPClient follows every rule`() async throws {
        let report = await HTTPConformance.run { AsyncHTTPClientExecutor(proxies: .none) }
        try report.requireSuccess()
        #expect(report.skipped.isEmpty)
    }

    @Test func `URLSession conforms, and lacks everything that streams`() async throws {
        let report = await HTTPConformance.run(except: Engine.urlSessionExceptions) { URLSessionExecutor() }
        try report.requireSuccess()
        #expect(report.skipped == Self.skippedByURLSession)
    }

    private static let skippedByURLSession = [
        "request fields of one name stay apart",
        "a GET can have a body",
        "a stream of known length has a Content-Length",
        "a stream of unknown length is sent in chunks",
        "a stream that fails halfway fails the exchange, and its connection",
        "a stream that is shorter or longer than announced fails the exchange",
        "a stream is sent once, and a replayable body as often as wanted",
        "a stream is read only as fast as the server takes it",
        "a response that comes before the body was sent is the response",
        "unrequested trailer fields do no harm",
        "response fields keep their order and number",
        "an unread body is not received",
        "a response without content is not decoded",
        "all members of gzip are decoded, each as it comes",
        "all content codings are removed in reverse order, or none",
        "compressed content is requested and decoded",
        "deflate is decoded where it is requested",
        "content that is not compressed is left alone",
        "a range is requested as it is stored, and not decoded",
        "with a request's own Accept-Encoding, the content is not decoded",
        "damaged content is an error",
        "content that grows out of proportion is an error",
        "a response that breaks off within its head is an error",
    ]

    /// An executor that breaks two rules.
    private struct MisbehavingExecutor: HTTPExecutor {
        let next: any HTTPExecutor
        var schemes: [String] { next.schemes }
        var capabilities: HTTPCapabilities { next.capabilities }

        func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
            var request = request
            request.method = request.method == "PURGE" ? "GET" : request.method
            var response = try await next.open(request, options)
            if response.status == 418 { response.status = 400 }
            return response
        }
    }

    @Test func `an executor that breaks rules is told which`() async throws {
        let report = await HTTPConformance.run { MisbehavingExecutor(next: Engine.allCases[0].executor()) }
        #expect(
            report.failed.map(\.name) == [
                "method, target and body arrive as they were given",
                "any status is a response, with its body and fields",
            ])
        let error = #expect(throws: BackplaneError.self) { try report.requireSuccess() }
        #expect(error?.code == .conformanceFailed && error?.causes.count == 2)
    }
}
