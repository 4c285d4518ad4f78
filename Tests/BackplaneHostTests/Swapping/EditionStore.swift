import Backplane
import BackplaneDocuments

@testable import BackplaneHost

/// A data access controller that comes in editions of its plugin, and managers of another that have it for a layer.
enum DrawerPlugin {
    static let id = "org.backplane.tests.drawers"

    static func edition(_ version: Version = "1.0.0") -> LinkedPlugin {
        LinkedPlugin(id: id, version: version) { $0.add(Drawer.self) }
    }

    /// - Parameter events: whose script it follows.
    static func layer(_ events: TillEvents) -> ManifestValue {
        ["className": "Drawer", "configuration": ["key": .string(events.key)]]
    }
}

struct Drawers: Contract {
    static let version: Version = "1.0.0"
    let edition = AsyncMethod<Nothing, Int>()
}

final class Drawer: DataAccessController {
    typealias Provides = Drawers
    typealias Configuration = TillManager.Configuration
    private let script: TillScript
    private let events: TillEvents

    init(_ context: Context) async throws {
        events = TillEvents.of(context.configuration.key)
        script = events.script
        events.note("made \(script.edition)")
        try await script.built()
    }

    deinit { events.note("gone \(script.edition)") }

    static func methods(_ table: inout Methods) {
        table.async(\.edition) { drawer, _, _ in drawer.script.edition }
    }
}

/// Calls its layer.
final class Shop: Manager {
    typealias Provides = Drawers
    struct Wires: Wiring {
        let dataAccessController: Wire<Drawers>
    }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.edition) { shop, _, call in try await shop.context.wires.dataAccessController.edition(call) }
    }
}

struct ShopPlugin: Plugin {
    static let id = "org.backplane.tests.shops"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(Shop.self) }
}
