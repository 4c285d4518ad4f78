package import Backplane
package import BackplaneStorage

extension RecordStore {
    /// Answers a query of `backplane.store/1` from pages that begin at cursors.
    ///
    /// The answer reflects one state of the collection, unless the collection changes more often than it can be read.
    ///
    /// - Throws: The errors of ``read(_:in:)``.
    package func page(_ query: OffsetQuery, in namespace: String) async throws(BackplaneError) -> OffsetPage {
        for _ in 0..<8 {
            if let page = try await attempt(query, in: namespace, onlyIfUnchanged: true) { return page }
        }
        return try await attempt(query, in: namespace, onlyIfUnchanged: false) ?? OffsetPage(records: [], total: 0)
    }

    /// Reads the pages of a query, and returns `nil` if the collection has changed between two of them.
    private func attempt(_ offset: OffsetQuery, in namespace: String, onlyIfUnchanged: Bool)
        async throws(BackplaneError) -> OffsetPage?
    {
        let selection = offset.ids.map { RecordQuery.Selection.ids($0) } ?? .range(RecordRange())
        var query = RecordQuery(collection: offset.collection, selection)
        var records: [StoredRecord] = [], toSkip = max(0, offset.offset)
        do throws(BackplaneError) {
            while records.count < offset.limit {
                query.isWithoutValues = toSkip > 0
                query.limit = toSkip > 0 ? toSkip : offset.limit - records.count
                let page = try await read(query, in: namespace)
                if onlyIfUnchanged {
                    query.conditions = [.unchanged(collection: offset.collection, since: page.change)]
                }
                if query.isWithoutValues {
                    toSkip -= page.records.count + page.damaged.count
                } else {
                    if let damaged = page.damaged.first { throw .damaged(offset.collection, damaged.id) }
                    records += page.records
                }
                query.after = page.next
                if page.next == nil { break }
            }
            return OffsetPage(records: records, total: try await count(query, in: namespace))
        } catch {
            guard onlyIfUnchanged, error.code == .storeConflict else { throw error }
            return nil
        }
    }
}

extension BackplaneError {
    /// Returns the error for a record whose stored bytes have changed.
    package static func damaged(_ collection: String, _ id: String) -> BackplaneError {
        BackplaneError(
            .storeDamaged, "the stored bytes of the record have changed; restore it from a backup, or delete it",
            at: "\(collection)/\(RecordLimits.shortened(id))")
    }
}
