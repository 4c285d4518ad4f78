import Backplane
import BackplaneRecords
import BackplaneStorage
import Synchronization

/// The writer of a pool's states, which batches the changes that accumulate during a write.
///
/// Only one write is in progress at a time, so that an earlier state never overwrites a later one.
final class TransferWriter: Sendable {
    /// A pending write of a transfer.
    enum Note: Sendable {
        case saving
        /// The transfer has been removed, unless it has been started again in the meantime.
        case removal
    }

    /// The changes that write a transfer, with its revision.
    struct Changes: Sendable {
        var records: [RecordChange]
        var revision = 0
        /// The revision of the request, if it is written.
        var request: Int?
    }
    private struct State {
        var notes: [ExactText: Note] = [:]
        /// The writes that failed.
        var unsaved: [ExactText: Note] = [:]
        var waiting: [CheckedContinuation<BackplaneError?, Never>] = []
        var isWriting = false
    }
    /// The maximum number of transfers in a batch.
    private static let batch = 1_000
    private let store: any RecordStore
    private let namespace: String
    /// A function that returns the changes that write a transfer's current state; `nil` if nothing remains to be
    /// written.
    private let changes: @Sendable (ExactText, Note) -> Changes?
    /// A function that receives the written transfers.
    private let written: @Sendable ([(ExactText, Changes)]) -> Void
    private let report: @Sendable (BackplaneError) -> Void
    private let state = Mutex(State())

    init(
        _ store: any RecordStore, _ namespace: String,
        changes: @escaping @Sendable (ExactText, Note) -> Changes?,
        written: @escaping @Sendable ([(ExactText, Changes)]) -> Void,
        report: @escaping @Sendable (BackplaneError) -> Void
    ) {
        (self.store, self.namespace) = (store, namespace)
        (self.changes, self.written, self.report) = (changes, written, report)
    }

    /// Schedules the writing of a transfer.
    func note(_ key: ExactText, _ note: Note) {
        let begins = state.withLock { state in
            if state.notes[key] != .removal { state.notes[key] = note }
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { Task { await write() } }
    }

    /// Waits until everything scheduled so far is written; failed writes are retried.
    ///
    /// - Throws: `store.unusable` and other codes of the store.
    func settle() async throws(BackplaneError) {
        let error = await withCheckedContinuation { continuation in
            let (isIdle, begins) = state.withLock { state in
                let isIdle = !state.isWriting && state.unsaved.isEmpty
                guard !isIdle else { return (true, false) }
                state.waiting.append(continuation)
                defer { state.isWriting = true }
                return (false, !state.isWriting)
            }
            if isIdle { continuation.resume(returning: nil) }
            if begins { Task { await write() } }
        }
        if let error { throw error }
    }

    private func write() async {
        while let (notes, waiting) = take() {
            let all = notes.compactMap { key, note in changes(key, note).map { (key, $0) } }
            var error: BackplaneError?
            for start in stride(from: 0, to: all.count, by: Self.batch) {
                let part = all[start..<min(start + Self.batch, all.count)]
                do throws(BackplaneError) {
                    try await store.write(part.flatMap(\.1.records), in: namespace)
                    written(Array(part))
                } catch let failure {
                    error = failure
                    state.withLock { state in
                        for (key, _) in part { state.unsaved[key] = notes[key] }
                    }
                    report(failure)
                }
            }
            for continuation in waiting { continuation.resume(returning: error) }
        }
    }

    /// Takes the scheduled writes and the tasks that wait for them; ends writing and returns `nil` if there are none.
    ///
    /// This includes writes that failed before.
    private func take() -> ([ExactText: Note], [CheckedContinuation<BackplaneError?, Never>])? {
        state.withLock { state in
            guard !state.notes.isEmpty || !state.waiting.isEmpty else {
                state.isWriting = false
                return nil
            }
            let notes = state.unsaved.merging(state.notes) { old, new in old == .removal ? old : new }
            defer { (state.notes, state.unsaved, state.waiting) = ([:], [:], []) }
            return (notes, state.waiting)
        }
    }
}
