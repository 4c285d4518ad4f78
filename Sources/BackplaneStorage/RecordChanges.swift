public import Backplane

extension RecordCollection {
    /// Returns the changes of the collection after a number, followed by each new one, as an endless sequence.
    ///
    /// ```swift
    /// var last = try await books.lastChange()
    /// let all = try await books.all()
    /// for try await change in books.changes(since: last) { … }
    /// ```
    ///
    /// They are read from a log of at least 100,000 changes, so no writer waits for a reader. A reader that falls
    /// further behind receives a change of the kind `missed`, and continues after it. Changes made to the store's file
    /// by another process arrive within a quarter of a second.
    ///
    /// - Parameter number: The ``CollectionChange/number`` of the last known change, ``lastChange()``, or 0 for all
    ///   changes in the log.
    public func changes(since number: Int64) -> RecordChanges<R> { RecordChanges(collection: self, number: number) }

    /// Returns the number of the collection's last change; 0 if it never had one.
    public func lastChange() async throws(BackplaneError) -> Int64 {
        try await self.page(StoreSelection(collection: R.collection, limit: 0)).change
    }
}

/// The changes of a collection, which can be iterated any number of times.
public struct RecordChanges<R: Record>: AsyncSequence, Sendable {
    private let collection: RecordCollection<R>
    private let number: Int64

    fileprivate init(collection: RecordCollection<R>, number: Int64) {
        (self.collection, self.number) = (collection, number)
    }

    /// Returns an iterator that begins after the sequence's number.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(collection, number) }

    /// The reader of a collection's log.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let collection: RecordCollection<R>
        /// The number of the last change that was read.
        private var number: Int64
        private var read: ArraySlice<CollectionChange<R>> = []
        /// A Boolean value that indicates whether all available changes have been read.
        private var isAtEnd = false
        /// The number of records that could not be decoded.
        private var unreadable = 0

        fileprivate init(_ collection: RecordCollection<R>, _ number: Int64) {
            (self.collection, self.number) = (collection, number)
        }

        /// Waits for the next change and returns it.
        ///
        /// - Throws: `call.cancelled` if the task is cancelled; `call.retired` once the component has stopped; the
        ///   errors of ``RecordCollection``.
        public mutating func next() async throws(BackplaneError) -> CollectionChange<R>? {
            while read.isEmpty { try await readOn() }
            return read.removeFirst()
        }

        /// Waits for the next change and returns it.
        ///
        /// - Throws: The errors of ``next()``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BackplaneError)
            -> CollectionChange<R>?
        {
            while read.isEmpty { try await readOn() }
            return read.removeFirst()
        }

        private mutating func readOn() async throws(BackplaneError) {
            let part = collection.part
            try await part.prepare(R.self)
            if isAtEnd { try await part.exchange.waitForChange(of: R.collection, since: number) }
            let page = try await part.exchange.changes(of: R.collection, since: number, limit: 500)
            var changes: [CollectionChange<R>] = []
            if page.hasMissed {
                let before = page.changes.first.map { $0.number - 1 } ?? page.last
                changes.append(CollectionChange(number: before, kind: .missed))
            }
            for logged in page.changes { changes.append(change(logged)) }
            (read, number, isAtEnd) = (changes[...], page.last, !page.hasMore)
        }

        private mutating func change(_ logged: LoggedChange) -> CollectionChange<R> {
            var change = CollectionChange<R>(number: logged.number, kind: .init(logged.kind), id: logged.id)
            guard let stored = logged.record else { return change }
            do throws(BackplaneError) {
                change.record = try StoredForm.decode(R.self, stored)
            } catch {
                unreadable += 1
                collection.report(
                    UnreadableRecord(id: stored.id, json: stored.value, version: stored.version, error: error),
                    number: unreadable)
            }
            return change
        }
    }
}

extension CollectionChangeKind {
    fileprivate init(_ kind: LoggedChange.Kind) {
        switch kind {
        case .insert: self = .inserted
        case .update: self = .updated
        case .delete: self = .deleted
        case .deleteAll: self = .emptied
        }
    }
}
