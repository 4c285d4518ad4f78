import Backplane
import BackplaneDocuments

@testable import BackplaneHost

/// Managers without state: one that swaps without waiting, and one that is exclusive.
enum WorkerPlugin {
    static let id = "org.backplane.tests.workers"

    static func edition(_ version: Version = "1.0.0") -> LinkedPlugin {
        LinkedPlugin(id: id, version: version) {
            $0.add(Worker<PlainTraits>.self)
            $0.add(Worker<ExclusiveWorker>.self)
        }
    }

    /// - Parameter events: whose script it follows.
    static func manager(_ className: String, _ events: CounterEvents) -> ManifestValue {
        ["className": .string(className), "configuration": ["key": .string(events.key)]]
    }
}

struct Working: Contract {
    static let version: Version = "1.0.0"
    let edition = AsyncMethod<Nothing, Int>()
    /// What the script says.
    let serve = AsyncMethod<String, String>()
}

/// What a worker's class says of itself.
protocol WorkerTraits: Sendable {
    static var className: String { get }
    static var isExclusive: Bool { get }
}

enum PlainTraits: WorkerTraits {
    static let className = "Worker"
    static let isExclusive = false
}

enum ExclusiveWorker: WorkerTraits {
    static let className = "ExclusiveWorker"
    static let isExclusive = true
}

final class Worker<Manner: WorkerTraits>: Manager {
    typealias Provides = Working
    typealias Configuration = StatefulCounter.Configuration
    static var className: String { Manner.className }
    static var isExclusive: Bool { Manner.isExclusive }
    private let script: CounterScript
    private let events: CounterEvents

    init(_ context: Context) async throws {
        events = CounterEvents.of(context.configuration.key)
        script = events.script
        events.note("made \(script.edition)")
        try await script.built()
        try script.timers(context.tasks, events)
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
        table.async(\.edition) { worker, _, _ in worker.script.edition }
        table.async(\.serve) { worker, text, _ in try await worker.script.serve(text) }
    }
}
