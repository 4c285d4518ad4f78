public import Backplane
public import BackplaneNetwork

/// HTTP without a network: answers what the test says, and keeps every request.
///
/// ```swift
/// host.http.on("GET", "http://books.test/v1/search?q=whale", .json([mobyDick]))
/// host.http.on("POST", "http://books.test/v1/loans", .status(503), .json(loan))     // the first time, and from then on
/// ```
///
/// A request that the test says nothing of is an error to whoever sent it, and stays in the list of the unexpected ones, with
/// which ``TestHost/run(_:plugins:fakes:pluginPaths:lanes:_:)`` fails at its end: that a component got over it does not hide it.
public final class TestHTTP: HTTPExecutor {
    struct Route: Sendable {
        var name: String
        var takes: @Sendable (HTTPRequest) -> Bool
        /// The last one stays.
        var answers: [Answer]
    }
    private struct State: Sendable {
        var routes: [Route] = []
        var requests: [HTTPRequest] = []
        var unexpected: [HTTPRequest] = []
    }
    private let state = WatchedState(State())
    public let schemes = ["http", "https"]

    public init() {}

    /// Answers requests of a method for a URL, which is compared as it is written, query and all.
    ///
    /// Of several for one request the last that was given counts. Several answers are given in turn, the last from then on.
    public func on(_ method: String, _ url: String, _ answer: Answer, _ next: Answer...) {
        add("\(method) \(url)", [answer] + next) { $0.method == method && $0.url == url }
    }

    /// Answers the requests that a test picks out itself.
    ///
    /// - Parameter name: what messages call them.
    public func on(_ name: String, where takes: @escaping @Sendable (HTTPRequest) -> Bool, _ answer: Answer, _ next: Answer...) {
        add(name, [answer] + next, takes)
    }

    private func add(_ name: String, _ answers: [Answer], _ takes: @escaping @Sendable (HTTPRequest) -> Bool) {
        state.change { $0.routes.append(Route(name: name, takes: takes, answers: answers)) }
    }

    /// Every request so far, in the order of their coming, the unexpected ones too.
    public var requests: [HTTPRequest] { state.value.requests }

    /// Waits until there are so many requests, and gives the first so many.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before.
    public func requests(_ count: Int) async throws -> [HTTPRequest] {
        try await state.wait { $0.requests.count >= count }
        return Array(requests.prefix(count))
    }

    /// The requests that the test said nothing of; who takes them has seen to them.
    public func takeUnexpected() -> [HTTPRequest] {
        state.change { state in
            defer { state.unexpected = [] }
            return state.unexpected
        }
    }

    public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        // Predicates are the test's, and may ask this for its requests: not under the lock.
        let routes = state.change { state in
            state.requests.append(request)
            return state.routes
        }
        guard let index = routes.lastIndex(where: { $0.takes(request) }) else {
            state.change { $0.unexpected.append(request) }
            throw Self.unexpected([request], expected: routes.map(\.name))
        }
        let answer = state.change { state in
            let answers = state.routes[index].answers
            return answers.count > 1 ? state.routes[index].answers.removeFirst() : answers[0]
        }
        return try await answer.make(request)
    }

    /// - Throws: `network.unexpected` where there is a request that the test said nothing of.
    func requireNothingUnexpected() throws(BackplaneError) {
        let state = state.value
        if !state.unexpected.isEmpty { throw Self.unexpected(state.unexpected, expected: state.routes.map(\.name)) }
    }

    /// Whole URLs: there are no secrets in a test.
    private static func unexpected(_ requests: [HTTPRequest], expected: [String]) -> BackplaneError {
        let known = expected.isEmpty ? "it answers nothing yet" : "it answers " + expected.map { "`\($0)`" }.joined(separator: ", ")
        let asked = requests.map { "`\($0.method) \($0.url)`" }.joined(separator: ", ")
        let advice = "say it with `http.on(\"\(requests[0].method)\", \"\(requests[0].url)\", …)`"
        return BackplaneError(.networkUnexpected, "the test does not say how \(asked) is answered; \(known); \(advice)")
    }
}

extension BackplaneError.Code {
    /// A request that a test said nothing of.
    public static let networkUnexpected = Self(rawValue: "network.unexpected")
}
