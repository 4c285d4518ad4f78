public import Backplane
import ParityContracts
import Synchronization

/// The plugin with the providers, in its own library.
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

/// A manager with a class in its state, which can therefore be transferred only as JSON.
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

final class TaskContextManager: Manager {
    typealias Provides = TaskContext

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.priority) { _, _, _ in Task.currentPriority.rawValue }
    }
}

final class ValuesManager: Manager {
    typealias Provides = Values

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.full) { _, value, _ in Seen(value) }
        table.sync(\.fullNow) { _, value, _ in Seen(value) }
        table.async(\.nothing) { _, value, _ in Seen(value) }
        table.async(\.perhapsNothing) { _, value, _ in Seen(value) }
        table.async(\.optional) { _, value, _ in Seen(value) }
        table.async(\.nested) { _, value, _ in Seen(value) }
        table.async(\.amended) { _, volumes, _ in amended(volumes) }
        table.sync(\.amendedNow) { _, volumes, _ in amended(volumes) }
    }

    /// Writes to storage that the caller may share.
    private static func amended(_ volumes: [Volume]) -> [Volume] {
        var volumes = volumes
        for index in volumes.indices {
            volumes[index].title += ", amended"
            volumes[index].tags.insert("amended")
            volumes[index].isLent.toggle()
        }
        volumes.append(Volume(volumes.count, "one more", tags: ["new"], shape: .labelled("amended", [.point])))
        return volumes
    }
}

final class SequencesManager: Manager {
    typealias Provides = Sequences

    init(_ context: Context) {}

    deinit { SequenceRecord.shared.withLock { $0.counts.released += 1 } }

    static func methods(_ table: inout Methods) {
        table.stream(\.count) { _, end, elements, _ in
            try await recorded {
                for number in 0..<end { try await send(number, elements) }
            }
        }
        table.stream(\.volumes) { _, count, elements, _ in
            try await recorded {
                for number in 0..<count {
                    try await send(
                        Volume(number, "volume \(number)", tags: ["a", "b"], shape: .labelled("shape", [.point])),
                        elements)
                }
            }
        }
        table.stream(\.fail) { _, kind, elements, _ in
            try await recorded {
                for number in 0..<2 { try await send(number, elements) }
                throw FailuresManager.thrown(kind)
            }
        }
        table.stream(\.endless) { _, _, elements, _ in
            try await recorded {
                var number = 0
                while true {
                    try await send(number, elements)
                    number += 1
                }
            }
        }
        table.stream(\.silent) { _, _, elements, _ in
            try await recorded {
                // Cancellation ends the sequence.
                try await elements.send(contentsOf: AsyncStream<Int> { _ in })
                try Task.checkCancellation()
            }
        }
        table.stream(\.stubborn) { _, _, elements, _ in
            try await recorded {
                try await send(0, elements)
                await withUnsafeContinuation { continuation in
                    let isLetGo = SequenceRecord.shared.withLock { record in
                        if record.passes > 0 {
                            record.passes -= 1
                            return true
                        }
                        record.stubborn.append(continuation)
                        return false
                    }
                    if isLetGo { continuation.resume() }
                }
                try await send(1, elements)
            }
        }
        table.stream(\.unusual) { _, _, elements, _ in
            try await recorded {
                for number in [1, .infinity, 2] { try await send(number, elements) }
            }
        }
        table.stream(\.frame) { _, _, elements, call in
            try await elements.send(
                SequenceFrame(components: call.path.count, hasDeadline: call.timeLeft != nil))
        }
    }

    private static func send<Element>(_ element: Element, _ elements: StreamSender<Element>) async throws {
        try await elements.send(element)
        SequenceRecord.shared.withLock { $0.counts.sent += 1 }
    }

    private static func recorded(_ body: () async throws -> Void) async throws {
        SequenceRecord.shared.withLock { record in
            record.counts.begun += 1
            record.counts.running += 1
        }
        defer {
            let isCancelled = Task.isCancelled
            SequenceRecord.shared.withLock { record in
                record.counts.running -= 1
                if isCancelled { record.counts.cancelled += 1 }
            }
        }
        try await body()
    }
}

/// The record of the streams' bodies in this copy of the library.
struct SequenceRecord {
    var counts = SequenceCounts()
    var stubborn: [UnsafeContinuation<Void, Never>] = []
    /// The number of bodies that may return without waiting.
    var passes = 0

    static let shared = Mutex(SequenceRecord())
}

final class SequenceWatchManager: Manager {
    typealias Provides = SequenceWatch

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.sync(\.counts) { _, _, _ in SequenceRecord.shared.withLock { $0.counts } }
        table.sync(\.letGo) { _, _, _ in
            let stubborn = SequenceRecord.shared.withLock { record in
                defer { record.stubborn = [] }
                if record.stubborn.isEmpty { record.passes += 1 }
                return record.stubborn
            }
            for continuation in stubborn { continuation.resume() }
            return Nothing()
        }
    }
}
