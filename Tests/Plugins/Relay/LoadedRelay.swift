public import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneURLSession

/// A plugin with an executor in Swift, loaded as a library of its own.
public struct LoadedRelayPlugin: Plugin {
    public static let id = "org.backplane.tests.loaded-relay"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(LoadedRelay.self)
    }
}

/// An executor that hands its exchanges to URLSession.
final class LoadedRelay: Manager {
    typealias Provides = HTTPExecuting
    static let className = "LoadedRelay"
    private let context: Context
    private let engine = URLSessionExecutor()

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.capabilities) { relay, _, _ in relay.engine.capabilities }
        table.stream(\.exchange) { relay, order, heads, _ in
            try await relay.context.execute(order, heads, collecting: true) { request, options in
                try await relay.engine.open(request, options)
            }
        }
    }
}
