import Backplane
import ParityContracts
import Synchronization

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

/// What the bodies of this copy of the library do.
struct SequenceRecord {
    var counts = SequenceCounts()
    var stubborn: [UnsafeContinuation<Void, Never>] = []
    /// How many bodies were let go before they waited.
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
