public import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneURLSession

/// A plugin with executors in Swift, in its own library.
public struct LoadedRelayPlugin: Plugin {
    public static let id = "org.backplane.tests.loaded-relay"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(LoadedRelay.self)
        registrar.add(FaultyRelay.self)
    }
}

/// An executor that uses URLSession.
final class LoadedRelay: Manager {
    typealias Provides = HTTPExecuting
    static let className = "LoadedRelay"
    private let engine = URLSessionExecutor()

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.capabilities) { relay, _, _ in relay.engine.capabilities }
        table.stream(\.exchange) { relay, order, parts, _ in
            try await parts.send(try await relay.engine.open(order.request, order.options))
        }
    }
}

/// An executor with faulty answers, which the URL selects, such as `faulty:short`.
final class FaultyRelay: Manager {
    typealias Provides = HTTPExecuting
    static let className = "FaultyRelay"
    /// The signal for each end of an endless response.
    private let (ended, end) = AsyncStream.makeStream(of: Void.self)

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.capabilities) { _, _, _ in [] }
        table.stream(\.exchange) { relay, order, parts, _ in try await relay.answer(order.url, parts) }
    }

    private func answer(_ url: String, _ parts: StreamSender<HTTPResponsePart>) async throws {
        let head = HTTPHead(status: 200, headers: [:]),
            announced = HTTPHead(status: 200, headers: ["Content-Length": "5"])
        switch url {
        case "faulty:piece": try await parts.send(.body([1]))
        case "faulty:heads": for _ in 1...2 { try await parts.send(.head(head)) }
        case "faulty:status": try await parts.send(.head(HTTPHead(status: 99, headers: [:])))
        case "faulty:short", "faulty:long":
            try await parts.send(.head(announced))
            try await parts.send(.body([UInt8](repeating: 1, count: url.hasSuffix("short") ? 2 : 6)))
        case "faulty:endless", "faulty:silent":
            defer { end.yield() }
            try await parts.send(.head(head))
            while url.hasSuffix("endless") { try await parts.send(.body([UInt8](repeating: 1, count: 1 << 16))) }
            let (never, continuation) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}  // until the task is cancelled
            continuation.finish()
        case "faulty:ended":
            // Waits for the end of an endless response.
            for await _ in ended { break }
            try await parts.send(.head(head))
        default: break
        }
    }
}
