import Backplane
import Synchronization

/// One attempt of a transaction; see ``Store/transaction(attempts:_:)``.
///
/// Its collections read and write like the store's collections. ``RecordCollection/fetch(_:)`` returns records that the
/// transaction has saved. Queries do not, so querying a collection that the transaction has changed is an error: query
/// first.
public final class StoreTransaction: Sendable {
    private struct State {
        var changes: [RecordChange] = []
        /// The conditions that hold if all reads are still valid.
        var conditions: [RecordCondition] = []
        /// The records and collections with conditions, by their bytes.
        var known: Set<[UInt8]> = []
        /// The saved and deleted records by collection and id, `nil` for a deleted one.
        var pending: [[UInt8]: StoredRecord?] = [:]
        /// The changed and the emptied collections, by their bytes.
        var changed: Set<[UInt8]> = [], emptied: Set<[UInt8]> = []
        /// The number of the component's last change in the state that was read.
        var snapshot: Int64?
        var conflict: BackplaneError?
        var isOver = false
    }
    private let part: StorePart
    private let state = Mutex(State())

    init(_ part: StorePart) { self.part = part }

    /// Returns the collection of one type's records within the transaction.
    public func collection<R: Record>(_: R.Type = R.self) -> RecordCollection<R> { RecordCollection(part, self) }

    /// The conflicting change that this attempt has encountered; `nil` if there is none.
    var conflict: BackplaneError? { state.withLock(\.conflict) }

    /// Commits all changes if all reads are still valid.
    func commit() async throws(BackplaneError) {
        let batch = try state.withLock { state throws(BackplaneError) in
            if let conflict = state.conflict { throw conflict }  // also if the closure has caught it
            state.isOver = true
            return RecordBatch(state.changes, if: state.conditions)
        }
        // A transaction that only reads has read a single state, so there is nothing to check.
        guard !batch.changes.isEmpty else { return }
        _ = try await noting { () throws(BackplaneError) in try await self.part.exchange.write(batch) }
    }

    /// Refuses all operations after the end of the closure.
    func end() { state.withLock { $0.isOver = true } }

    /// Runs an operation of the host, and records a conflict.
    private func noting<Value>(_ operation: () async throws(BackplaneError) -> Value) async throws(BackplaneError)
        -> Value
    {
        do throws(BackplaneError) {
            return try await operation()
        } catch {
            if error.code == .storeConflict { state.withLock { $0.conflict = error } }
            throw error
        }
    }

    private static func key(_ collection: String, _ id: String? = nil) -> [UInt8] {
        Array(collection.utf8) + (id.map { [0] + Array($0.utf8) } ?? [])
    }
}

extension StoreTransaction: StoreAccess {
    func write(_ batch: RecordBatch) async throws(BackplaneError) -> [Int64] {
        for condition in batch.conditions {
            guard case .version(let collection, let id, let expected) = condition else { continue }
            var selection = StoreSelection(collection: collection, ids: [id])
            selection.isWithoutValues = true
            let page = try await read(selection), found = page.records.first
            // The closure's own condition is not a conflict that another attempt would solve.
            guard (found?.version ?? 0) == expected, found == nil || expected != 0 else {
                throw BackplaneError(
                    .storeConflict,
                    expected == 0
                        ? "expected no record, found one" : "expected version \(expected), found another state",
                    at: "\(collection)/\(id)")
            }
        }
        try requireOpen()
        state.withLock { state in
            state.changes += batch.changes
            for change in batch.changes {
                switch change {
                case .save(let collection, let record):
                    state.pending[Self.key(collection, record.id)] = .some(record)
                    state.changed.insert(Self.key(collection))
                case .delete(let collection, let id):
                    state.pending[Self.key(collection, id)] = .some(nil)
                    state.changed.insert(Self.key(collection))
                case .deleteAll(let collection):
                    let name = Self.key(collection)
                    state.pending = state.pending.filter { !$0.key.starts(with: name + [0]) }
                    state.changed.insert(name)
                    state.emptied.insert(name)
                }
            }
        }
        return batch.changes.map { _ in 0 }
    }

    func read(_ selection: StoreSelection) async throws(BackplaneError) -> RecordPage {
        guard let ids = selection.ids else {
            try requireUnchanged(selection.collection)
            return try await readConsistently(selection)
        }
        let (own, others) = state.withLock { state -> ([StoredRecord], [String]) in
            var own: [StoredRecord] = [], others: [String] = []
            let isEmptied = state.emptied.contains(Self.key(selection.collection))
            for id in ids {
                if let pending = state.pending[Self.key(selection.collection, id)] {
                    // A version that no stored record has.
                    if var record = pending {
                        record.version = -1
                        own.append(record)
                    }
                } else if !isEmptied {
                    others.append(id)
                }
            }
            return (own, others)
        }
        try requireOpen()
        guard !others.isEmpty else { return RecordPage(records: own) }
        var stored = selection
        stored.ids = others
        var page = try await readConsistently(stored)
        page.records += own
        return page
    }

    func count(_ selection: StoreSelection) async throws(BackplaneError) -> Int {
        try requireUnchanged(selection.collection)
        var first = selection
        first.limit = 0
        let page = try await readConsistently(first)
        var counted = selection
        counted.conditions = [.unchanged(collection: selection.collection, since: page.change)]
        return try await noting { () throws(BackplaneError) in try await self.part.exchange.count(counted) }
    }

    /// Reads from the state of the previous reads, or from a later state in which they are still valid.
    private func readConsistently(_ selection: StoreSelection) async throws(BackplaneError) -> RecordPage {
        try requireOpen()
        var page = try await part.exchange.read(selection), checked: Int?
        // Reads may be in flight at the same time: the conditions of the read that ends first also apply to the others.
        while let conditions = note(page, of: selection, checked: checked) {
            var again = selection
            again.conditions = conditions
            page = try await noting { () throws(BackplaneError) in try await self.part.exchange.read(again) }
            checked = conditions.count
        }
        return page
    }

    /// Records a read, if it is of the same state as the previous reads.
    ///
    /// - Parameter checked: The number of conditions that held in the state from which the page was read.
    /// - Returns: The conditions under which the page has to be read again; `nil` if it was recorded.
    private func note(_ page: RecordPage, of selection: StoreSelection, checked: Int?) -> [RecordCondition]? {
        state.withLock { state in
            guard state.snapshot == nil || state.snapshot == page.namespaceChange || checked == state.conditions.count
            else { return state.conditions }
            state.snapshot = page.namespaceChange
            guard let ids = selection.ids else {
                if state.known.insert(Self.key(selection.collection)).inserted {
                    state.conditions.append(.unchanged(collection: selection.collection, since: page.change))
                }
                return nil
            }
            for id in ids where state.known.insert(Self.key(selection.collection, id)).inserted {
                let found = page.records.first { $0.id.utf8.elementsEqual(id.utf8) }
                state.conditions.append(.version(collection: selection.collection, id: id, found?.version ?? 0))
            }
            return nil
        }
    }

    private func requireOpen() throws(BackplaneError) {
        try state.withLock { state throws(BackplaneError) in
            if let conflict = state.conflict { throw conflict }
            guard !state.isOver else {
                throw BackplaneError(
                    .callInvalidInput, "the transaction has ended; use its collections only within its closure")
            }
        }
    }

    private func requireUnchanged(_ collection: String) throws(BackplaneError) {
        guard state.withLock({ $0.changed.contains(Self.key(collection)) }) else { return }
        throw BackplaneError(
            .callInvalidInput,
            "the transaction has already changed the collection, and a query would not see the change; query it before the first change",
            at: collection)
    }
}
