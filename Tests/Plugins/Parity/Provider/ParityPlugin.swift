public import Backplane
import ParityContracts
import Synchronization

/// What is called, in a library of its own.
public struct ParityPlugin: Plugin {
    public static let id = "org.backplane.tests.parity"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(ValuesManager.self)
        registrar.add(TaskContextManager.self)
        registrar.add(FailuresManager.self)
        registrar.add(LoansManager.self)
        registrar.add(FramesManager.self)
        registrar.add(LedgerManager.self)
        registrar.add(FullStateManager.self)
        registrar.add(BoundManager.self)
        registrar.add(SequencesManager.self)
        registrar.add(SequenceWatchManager.self)
    }
}

final class LedgerManager: Manager {
    typealias Provides = Ledger

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.find) { _, query, _ in
            [LedgerEntry(text: query.text, wasLimited: query.limit != nil, pages: [1, 2])]
        }
        table.sync(\.count) { _, query, _ in query.text.count }
        table.async(\.total) { _, _, _ in 1 }
    }
}

final class FramesManager: Manager {
    typealias Provides = Frames

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.frame) { _, _, call in Frame(call) }
        table.sync(\.frameNow) { _, _, call in Frame(call) }
    }
}

final class FailuresManager: Manager {
    typealias Provides = Failures

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.fail) { _, kind, _ in throw thrown(kind) }
        table.sync(\.failNow) { _, kind, _ in throw thrown(kind) }
        table.async(\.failDeep) { _, levels, _ in throw BackplaneError.deep(levels) }
    }

    static func thrown(_ kind: FailureKind) -> any Error {
        switch kind {
        case .whole, .bare: kind.error
        case .component:
            Trouble(code: "parity.trouble", message: kind.error.message, details: ["": "é", "where": "here"])
        case .componentWithoutDetails: Quiet()
        case .plain: Plain(number: 7)
        case .cancellation: CancellationError()
        }
    }

    private struct Trouble: ComponentError {
        var code: String
        var message: String
        var details: [String: String]
    }

    private struct Quiet: ComponentError {
        var code: String { "" }
        var message: String { "" }
    }

    private struct Plain: Error {
        var number: Int
    }
}

final class LoansManager: Manager {
    typealias Provides = Loans

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.borrow) { _, error, _ in throw error }
        table.sync(\.borrowNow) { _, error, _ in throw error }
        table.stream(\.titles) { _, error, elements, _ in
            try await elements.send("Moby-Dick")
            throw error
        }
        table.async(\.fail) { _, kind, _ in throw FailuresManager.thrown(kind) }
    }
}

/// A manager in whose state is a class, so that the state crosses as JSON only.
final class BoundManager: Manager, StatefulComponent {
    final class Cover: Codable, Sendable {
        let colour: String
        init(_ colour: String) { self.colour = colour }
    }
    struct State: Codable { var cover: Cover }
    private let cover = Cover("red")

    init(_ context: Context) {}
    func exportState() -> State { State(cover: cover) }
    func importState(_ state: State) {}
}

final class FullStateManager: Manager, StatefulComponent {
    typealias Provides = FullStateKeeping
    private let full = Mutex(FullState())

    init(_ context: Context) {}

    func exportState() -> FullState { full.withLock(\.self) }
    func importState(_ state: FullState) { full.withLock { $0 = state } }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { manager, full, _ in
            manager.full.withLock { $0 = full }
            return Nothing()
        }
        table.async(\.kept) { manager, _, _ in manager.full.withLock(\.self) }
        table.async(\.add) { manager, volume, _ in
            manager.full.withLock { full in
                full.byName[volume.title] = volume
                return full.byName.count
            }
        }
    }
}
