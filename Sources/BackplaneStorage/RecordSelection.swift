public import Backplane

/// An ordered selection of a collection's records: all records, or the records in a range of an index.
///
/// A selection is lazy: it reads when its functions are called. Iteration reads page by page, so a collection may have
/// any size; records that are written after the current position in the meantime are included.
///
/// ```swift
/// for try await book in books.query(\.year, from: 1870, upTo: 1880) { … }
/// ```
///
/// A record that cannot be decoded does not hide other records: ``page(limit:after:)`` returns it as unreadable, and
/// the other functions skip it and log a warning.
public struct RecordSelection<R: Record>: Sendable {
    let collection: RecordCollection<R>
    /// The selection, or the error in its values.
    var selection: Result<StoreSelection, BackplaneError>

    /// The selection in reverse order.
    public var descending: Self {
        RecordSelection(
            collection: collection,
            selection: selection.map { selection in
                var other = selection
                other.isDescending.toggle()
                return other
            })
    }

    /// Returns a page of the selected records, in their order.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of records; at most 10,000 are returned, and fewer if they exceed 16 MB.
    ///   - cursor: The ``RecordList/next`` of the previous page; `nil` for the first page. It never expires.
    /// - Throws: `call.invalid-input` for a cursor of another selection, or a value that is not a JSON number, string,
    ///   Boolean or `null`; `store.unindexed` if the index is not in use.
    public func page(limit: Int = 100, after cursor: PageCursor? = nil) async throws(BackplaneError) -> RecordList<R> {
        var selection = try selection.get()
        (selection.limit, selection.after) = (limit, cursor)
        return try await collection.read(selection)
    }

    /// Returns the first record, or `nil` if there is none.
    public func first() async throws(BackplaneError) -> R? {
        var iterator = makeAsyncIterator()
        iterator.limit = 1
        return try await iterator.next()
    }

    /// Returns all records, which have to fit in memory.
    public func all() async throws(BackplaneError) -> [R] {
        var records: [R] = [], iterator = makeAsyncIterator()
        while let page = try await iterator.nextPage() { records += page }
        return records
    }

    /// Returns the number of records, including records that cannot be decoded.
    public func count() async throws(BackplaneError) -> Int { try await collection.count(selection.get()) }
}

extension RecordSelection: AsyncSequence {
    /// An iterator over the records of a selection.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let selection: RecordSelection
        private var page: ArraySlice<R> = []
        private var cursor: PageCursor?
        private var isLast = false
        fileprivate var limit = 1_000
        private var reported = 0

        fileprivate init(_ selection: RecordSelection) { self.selection = selection }

        /// Returns the next record, or `nil` after the last one.
        ///
        /// - Throws: The errors of ``RecordSelection/page(limit:after:)``.
        public mutating func next() async throws(BackplaneError) -> R? { try await next(isolation: #isolation) }

        /// Returns the next record, or `nil` after the last one.
        ///
        /// - Throws: The errors of ``RecordSelection/page(limit:after:)``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BackplaneError) -> R? {
            while page.isEmpty {
                guard let next = try await nextPage() else { return nil }
                page = next[...]
            }
            return page.removeFirst()
        }

        fileprivate mutating func nextPage() async throws(BackplaneError) -> [R]? {
            guard !isLast else { return nil }
            let list = try await selection.page(limit: limit, after: cursor)
            (cursor, isLast) = (list.next, list.next == nil)
            for record in list.unreadable {
                reported += 1
                selection.collection.report(record, number: reported)
            }
            return list.records
        }
    }

    /// Returns an iterator that begins with the first record.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
