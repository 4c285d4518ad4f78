import Backplane
import Synchronization

@testable import BackplaneHost

/// Painters with palettes, most of which take another configuration while they work.
enum PaintingPlugin {
    static let linked = LinkedPlugin(id: "org.backplane.tests.painting", version: "1.0.0") { registrar in
        registrar.add(Painter.self)
        registrar.add(FixedPainter.self)
        registrar.add(Palette.self)
    }
    fileprivate static let number = Atomic<Int>(0)
}

struct Painting: Contract {
    static let version: Version = "1.0.0"
    let colour = AsyncMethod<Nothing, String>()
    /// The number of the instance, which no other has.
    let instance = AsyncMethod<Nothing, Int>()
}

struct Paints: Contract {
    static let version: Version = "1.0.0"
    let colour = AsyncMethod<Nothing, String>()
    let instance = AsyncMethod<Nothing, Int>()
}

struct PaintConfiguration: Decodable, Sendable {
    var colour: String
    /// What is done when the component takes this configuration.
    var when: String?

    struct Refused: Error {}

    func accept() async throws {
        switch when {
        case "refuse": throw Refused()
        case "hang": try await Task.sleep(for: .seconds(3_600))
        default: break
        }
    }
}

final class Painter: Manager, ReconfigurableComponent {
    typealias Provides = Painting
    typealias Configuration = PaintConfiguration
    struct Wires: Wiring {
        let dataAccessController: Wire<Paints>?
        let model: Wire<Painting>?
    }
    private let wires: Wires
    private let colour: Mutex<String>
    private let instance = PaintingPlugin.number.add(1, ordering: .relaxed).newValue
    private let log: Log

    init(_ context: Context) {
        (wires, log) = (context.wires, context.log)
        colour = Mutex(context.configuration.colour)
    }

    func reconfigure(_ configuration: PaintConfiguration) async throws {
        log.info("\(configuration.colour)")
        try await configuration.accept()
        colour.withLock { $0 = configuration.colour }
    }

    static func methods(_ table: inout Methods) {
        table.async(\.colour) { painter, _, call in
            let own = painter.colour.withLock { $0 }
            let paint = try await painter.wires.dataAccessController?.colour(call)
            return paint.map { "\(own) \($0)" } ?? own
        }
        table.async(\.instance) { painter, _, _ in painter.instance }
    }
}

final class FixedPainter: Manager {
    typealias Provides = Painting
    typealias Configuration = PaintConfiguration
    private let colour: String
    private let instance = PaintingPlugin.number.add(1, ordering: .relaxed).newValue

    init(_ context: Context) { colour = context.configuration.colour }

    static func methods(_ table: inout Methods) {
        table.async(\.colour) { painter, _, _ in painter.colour }
        table.async(\.instance) { painter, _, _ in painter.instance }
    }
}

final class Palette: DataAccessController, ReconfigurableComponent {
    typealias Provides = Paints
    typealias Configuration = PaintConfiguration
    private let colour: Mutex<String>
    private let instance = PaintingPlugin.number.add(1, ordering: .relaxed).newValue

    init(_ context: Context) { colour = Mutex(context.configuration.colour) }

    func reconfigure(_ configuration: PaintConfiguration) async throws {
        try await configuration.accept()
        colour.withLock { $0 = configuration.colour }
    }

    static func methods(_ table: inout Methods) {
        table.async(\.colour) { palette, _, _ in palette.colour.withLock { $0 } }
        table.async(\.instance) { palette, _, _ in palette.instance }
    }
}
