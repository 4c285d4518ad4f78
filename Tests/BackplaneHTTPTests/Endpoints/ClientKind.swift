import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit

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
