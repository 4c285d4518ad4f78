import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession

/// The executors over a network; every suite runs through each.
enum Engine: CaseIterable, Sendable {
    case asyncHTTPClient
    case urlSession

    func executor() -> any HTTPExecutor {
        switch self {
        case .asyncHTTPClient: AsyncHTTPClientExecutor(proxies: .none)
        case .urlSession: URLSessionExecutor()
        }
    }

    /// The rules of the conformance suite that URLSession does not follow.
    static let urlSessionExceptions: Set<String> = [
        "request fields of one name stay apart", "response fields keep their order and number",
        "an unread body is not received", "unrequested trailer fields do no harm",
        "a response that breaks off within its head is an error",
    ]
}

extension [UInt8] {
    /// Returns bytes that repeat with a period that differs from the size of any buffer.
    static func pattern(count: Int) -> [UInt8] { (0..<count).map { UInt8($0 % 251) } }
}

/// The clients that endpoints are loaded on: each executor, in a program without plugins and from inside a plugin.
struct ClientKind: Sendable, CustomStringConvertible {
    var engine: Engine
    var isInPlugin: Bool

    static let all = Engine.allCases.flatMap { engine in
        [false, true].map { ClientKind(engine: engine, isInPlugin: $0) }
    }
    /// Those whose executor streams both bodies.
    static let streaming = all.filter { Engine.streaming.contains($0.engine) }

    var description: String { "\(engine)\(isInPlugin ? " in a plugin" : "")" }

    /// Runs `body` with the client, and with a call for it.
    ///
    /// - Parameter clock: The clock of its exchanges; `nil` for the system's.
    func lend(by clock: TestClock? = nil, _ body: (HTTPClient, Call) async throws -> Void) async throws {
        guard isInPlugin else {
            let retries = clock.map { Retries(clock: $0) } ?? Retries()
            return try await body(HTTPClient(HTTPPipeline([engine.executor()], retries: retries)), Call())
        }
        try await LendingPlugin.lent(engine) {
            $0.clock = clock
        } _: { _, context in
            try await body(context.http, context.begin())
        }
    }
}
