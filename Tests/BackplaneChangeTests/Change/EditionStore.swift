import Backplane
import BackplaneDocuments

@testable import BackplaneHost

/// A data access controller that comes in editions of its plugin, and managers of another that have it for a layer.
enum EditionStorePlugin {
    static let id = "org.backplane.tests.stores"

    static func edition(_ version: Version = "1.0.0") -> LinkedPlugin {
        LinkedPlugin(id: id, version: version) { $0.add(EditionStore.self) }
    }

    /// - Parameter events: whose script it follows.
    static func layer(_ events: CounterEvents) -> ManifestValue {
        ["className": "EditionStore", "configuration": ["key": .string(events.key)]]
    }
}

struct Editions: Contract {
    static let version: Version = "1.0.0"
    let edition = AsyncMethod<Nothing, Int>()
}

final class EditionStore: DataAccessController {
    typealias Provides = Editions
    typealias Configuration = StatefulCounter.Configuration
    private let script: CounterScript
    private let events: CounterEvents

    init(_ context: Context) async throws {
        events = CounterEvents.of(context.configuration.key)
        script = events.script
        events.note("made \(script.edition)")
        try await script.built()
    }

    deinit { events.note("gone \(script.edition)") }

    static func methods(_ table: inout Methods) {
        table.async(\.edition) { store, _, _ in store.script.edition }
    }
}

/// Calls its layer.
final class EditionReader: Manager {
    typealias Provides = Editions
    struct Wires: Wiring {
        let dataAccessController: Wire<Editions>
    }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.edition) { reader, _, call in try await reader.context.wires.dataAccessController.edition(call) }
    }
}

struct EditionReaderPlugin: Plugin {
    static let id = "org.backplane.tests.readers"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(EditionReader.self) }
}
