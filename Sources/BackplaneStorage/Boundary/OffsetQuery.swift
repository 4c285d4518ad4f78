/// A query of `backplane.store/1`, whose pages begin at an offset.
package struct OffsetQuery: Sendable {
    /// The name of the collection.
    package var collection: String
    /// The ids of the records; `nil` for all records.
    package var ids: [String]?
    /// The number of records to skip, in the byte order of their ids.
    package var offset: Int
    /// The maximum number of records to return; 0 to count them only.
    package var limit: Int

    /// Creates a query, by default for the whole collection.
    package init(collection: String, ids: [String]? = nil, offset: Int = 0, limit: Int = .max) {
        (self.collection, self.ids, self.offset, self.limit) = (collection, ids, offset, limit)
    }
}

/// The answer to a query of `backplane.store/1`.
package struct OffsetPage: Sendable {
    /// The selected records after the offset, at most as many as the limit.
    package var records: [StoredRecord]
    /// The number of selected records, on this page and all others.
    package var total: Int

    /// Creates an answer.
    package init(records: [StoredRecord], total: Int) {
        (self.records, self.total) = (records, total)
    }
}
