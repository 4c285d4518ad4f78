import Backplane
import BackplaneExchange
import BackplaneNetwork

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
    func lend(_ body: (HTTPClient, Call) async throws -> Void) async throws {
        guard isInPlugin else { return try await body(HTTPClient([engine.executor()]), Call()) }
        try await LendingPlugin.lent(engine) { _, context in try await body(context.http, context.begin()) }
    }
}
