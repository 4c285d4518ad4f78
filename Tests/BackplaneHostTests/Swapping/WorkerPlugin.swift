import Backplane
import BackplaneDocuments

@testable import BackplaneHost

/// Managers without state: one that swaps without waiting, and one that is exclusive.
enum KioskPlugin {
    static let id = "org.backplane.tests.kiosks"

    static func edition(_ version: Version = "1.0.0") -> LinkedPlugin {
        LinkedPlugin(id: id, version: version) {
            $0.add(Kiosk<PlainKiosk>.self)
            $0.add(Kiosk<ExclusiveKiosk>.self)
        }
    }

    /// - Parameter events: whose script it follows.
    static func manager(_ className: String, _ events: TillEvents) -> ManifestValue {
        ["className": .string(className), "configuration": ["key": .string(events.key)]]
    }
}

struct Kiosks: Contract {
    static let version: Version = "1.0.0"
    let edition = AsyncMethod<Nothing, Int>()
    /// What the script says.
    let serve = AsyncMethod<String, String>()
}

/// What a kiosk's class says of itself.
protocol KioskManner: Sendable {
    static var className: String { get }
    static var isExclusive: Bool { get }
}

enum PlainKiosk: KioskManner {
    static let className = "Kiosk"
    static let isExclusive = false
}

enum ExclusiveKiosk: KioskManner {
    static let className = "ExclusiveKiosk"
    static let isExclusive = true
}

final class Kiosk<Manner: KioskManner>: Manager {
    typealias Provides = Kiosks
    typealias Configuration = TillManager.Configuration
    static var className: String { Manner.className }
    static var isExclusive: Bool { Manner.isExclusive }
    private let script: TillScript
    private let events: TillEvents

    init(_ context: Context) async throws {
        events = TillEvents.of(context.configuration.key)
        script = events.script
        events.note("made \(script.edition)")
        try await script.built()
    }

    deinit { events.note("gone \(script.edition)") }

    func activate() async throws {
        events.note("activate \(script.edition)")
        try await script.opened()
    }
    func suspend() async throws {
        events.note("suspend \(script.edition)")
        try await script.shut()
    }
    func resume() async throws { events.note("resume \(script.edition)") }
    func stop() async { events.note("stop \(script.edition)") }
    func health() async throws { try await script.health() }

    static func methods(_ table: inout Methods) {
        table.async(\.edition) { kiosk, _, _ in kiosk.script.edition }
        table.async(\.serve) { kiosk, text, _ in try await kiosk.script.serve(text) }
    }
}
