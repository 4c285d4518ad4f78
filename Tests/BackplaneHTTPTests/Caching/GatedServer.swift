import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization

/// A server in memory that answers with what a test says, and records the requests.
final class GatedServer: Sendable {
    typealias Answer = @Sendable (_ request: HTTPRequest, _ number: Int) async throws -> HTTPStreamedResponse
    let requests = Recording<HTTPRequest>()
    /// The gate that requests pass before they are answered.
    let gate = TestGate(isOpen: true)
    let clock = TestClock()
    private let answer: Mutex<Answer>

    init(_ answer: @escaping Answer = { _, number in .text("\(number)") }) { self.answer = Mutex(answer) }

    var count: Int { requests.all.count }

    func answers(_ answer: @escaping Answer) { self.answer.withLock { $0 = answer } }

    var executor: MemoryExecutor {
        MemoryExecutor { [self] request, _ in
            requests.add(request)
            let number = count
            try await gate.pass()
            return try await answer.withLock { $0 }(request, number)
        }
    }

    func network(
        cache: ResponseCache? = ResponseCache(), credentials: Credentials = Credentials()
    ) -> HTTPPipeline {
        HTTPPipeline(
            [executor], retries: Retries(clock: clock, date: { [clock] in clock.date }, random: { 0 }),
            credentials: credentials, cache: cache)
    }

    func client(cache: ResponseCache? = ResponseCache(), credentials: Credentials = Credentials()) -> HTTPClient {
        HTTPClient(network(cache: cache, credentials: credentials)).relative(to: "http://books.test")
    }
}

extension HTTPStreamedResponse {
    static func text(_ text: String, _ status: Int = 200, _ headers: HTTPHeaders = [:]) -> HTTPStreamedResponse {
        HTTPStreamedResponse(HTTPResponse(status: status, headers: headers, body: Array(text.utf8)))
    }
}

extension HTTPClient {
    /// The error of a load; `nil` if it succeeds.
    func failure<Value>(of endpoint: Endpoint<Value>) async -> BackplaneError? {
        do throws(BackplaneError) {
            _ = try await load(endpoint)
            return nil
        } catch {
            return error
        }
    }
}

/// A decoder of JSON that counts its values.
final class CountingDecoder: ResponseDecoder {
    private let decoded = Atomic(0)

    var count: Int { decoded.load(ordering: .relaxed) }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        decoded.add(1, ordering: .relaxed)
        return try JSONDecoder().decode(type, from: data)
    }
}
