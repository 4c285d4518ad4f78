public import Backplane
public import BackplaneExchange
public import BackplaneNetwork

/// An HTTP executor without a network, which returns the answers that a test defines and records every request.
///
/// ```swift
/// host.http.on("GET", "http://books.test/v1/search?q=whale", .json([mobyDick]))
/// host.http.on("POST", "http://books.test/v1/loans", .status(503), .json(loan))  // once, then always
/// ```
///
/// A request without a defined answer fails and is recorded as unexpected. If there are unexpected requests,
/// ``TestHost/run(_:plugins:fakes:pluginPaths:lanes:clock:openStore:_:)`` fails at its end, even if a component
/// recovered from the error.
public final class TestHTTP: HTTPExecutor {
    struct Route: Sendable {
        var name: String
        var takes: @Sendable (HTTPRequest) -> Bool
        /// The remaining answers, the last of which is never removed.
        var answers: [Answer]
    }
    private struct State: Sendable {
        var routes: [Route] = []
        var requests: [HTTPRequest] = []
        var unexpected: [HTTPRequest] = []
        /// The function that answers requests without a defined answer, or returns `nil`.
        var others: (@Sendable (HTTPRequest, HTTPOptions) async throws -> HTTPStreamedResponse?)?
    }
    private let state = WatchedState(State())
    /// The schemes that are answered: `http` and `https`.
    public let schemes = ["http", "https"]
    /// The capabilities, whose effects answers can inspect in the request.
    public let capabilities: HTTPCapabilities = [.streamedUploads, .contentInGET]

    /// Creates an HTTP executor without any answers.
    public init() {}

    /// Defines the answers to requests of a method for a URL, which is compared as written, including the query.
    ///
    /// If several definitions match a request, the latest applies. Several answers are returned in turn, and the last
    /// one is repeated.
    public func on(_ method: String, _ url: String, _ answer: Answer, _ next: Answer...) {
        add("\(method) \(url)", [answer] + next) { $0.method == method && $0.url == url }
    }

    /// Defines the answers to requests that meet a condition.
    ///
    /// - Parameters:
    ///   - name: The name of these requests in messages.
    ///   - takes: The condition.
    ///   - answer: The first answer.
    ///   - next: The answers to further requests, returned in turn; the last one is repeated.
    public func on(
        _ name: String, where takes: @escaping @Sendable (HTTPRequest) -> Bool, _ answer: Answer, _ next: Answer...
    ) {
        add(name, [answer] + next, takes)
    }

    /// Answers requests without a defined answer with mocks, without their delays.
    ///
    /// A request without a mock fails, and is unexpected.
    public func answer(from mocks: Mocks) {
        state.change { state in
            state.others = { request, options in
                try await mocks.executor(for: request, options, nil)?.open(request, options)
            }
        }
    }

    /// Answers requests without a defined answer with the exchanges of a cassette that is replayed.
    ///
    /// A request that is not in the cassette fails, and is unexpected.
    public func answer(from cassette: Cassette) {
        state.change { state in
            state.others = { request, options in try await cassette.player?.open(request, options) }
        }
    }

    private func add(_ name: String, _ answers: [Answer], _ takes: @escaping @Sendable (HTTPRequest) -> Bool) {
        state.change { $0.routes.append(Route(name: name, takes: takes, answers: answers)) }
    }

    /// All requests so far in the order of their arrival, including unexpected ones.
    public var requests: [HTTPRequest] { state.value.requests }

    /// Waits until there are at least `count` requests, and returns the first `count`.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func requests(_ count: Int) async throws -> [HTTPRequest] {
        try await state.wait { $0.requests.count >= count }
        return Array(requests.prefix(count))
    }

    /// Returns the requests without a defined answer, and removes them, so that they do not fail the test.
    public func takeUnexpected() -> [HTTPRequest] {
        state.change { state in
            defer { state.unexpected = [] }
            return state.unexpected
        }
    }

    /// Returns the answer that the test has defined for a request, and records the request with its body in memory.
    ///
    /// - Throws: `network.unexpected` if no answer is defined.
    public func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try require(request, options)
        var request = request
        request.body = try await request.body.collected(upTo: HTTPOptions.collectionLimit)
        return HTTPStreamedResponse(try await answer(request, options))
    }

    private func answer(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPResponse {
        // Without the lock, because conditions are functions of the test and may read `requests`.
        let (routes, others) = state.change { state in
            state.requests.append(request)
            return (state.routes, state.others)
        }
        guard let index = routes.lastIndex(where: { $0.takes(request) }) else {
            do {
                if let response = try await others?(request, options) { return try await response.collect() }
            } catch let error as BackplaneError where error.code == .networkMock {
                state.change { $0.unexpected.append(request) }
                throw error
            }
            state.change { $0.unexpected.append(request) }
            throw Self.unexpected([request], expected: routes.map(\.name))
        }
        let answer = state.change { state in
            let answers = state.routes[index].answers
            return answers.count > 1 ? state.routes[index].answers.removeFirst() : answers[0]
        }
        return try await answer.make(request)
    }

    /// Checks that no request lacked a defined answer.
    func requireNothingUnexpected() throws(BackplaneError) {
        let state = state.value
        if !state.unexpected.isEmpty { throw Self.unexpected(state.unexpected, expected: state.routes.map(\.name)) }
    }

    /// Returns the error for unexpected requests, with complete URLs because a test contains no secrets.
    private static func unexpected(_ requests: [HTTPRequest], expected: [String]) -> BackplaneError {
        let known =
            expected.isEmpty
            ? "no answers are defined yet" : "it answers " + expected.map { "`\($0)`" }.joined(separator: ", ")
        let asked = requests.map { "`\($0.method) \($0.url)`" }.joined(separator: ", ")
        let advice = "define the answer with `http.on(\"\(requests[0].method)\", \"\(requests[0].url)\", …)`"
        return BackplaneError(.networkUnexpected, "the test defines no answer to \(asked); \(known); \(advice)")
    }
}

extension BackplaneError.Code {
    /// The code of the error for a request without a defined answer.
    public static let networkUnexpected = Self(rawValue: "network.unexpected")
}
