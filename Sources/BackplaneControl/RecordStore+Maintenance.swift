package import Backplane
package import BackplaneRecords
package import BackplaneStorage

/// The maintenance of a store by a command, through the host that has it open or by the command itself.
extension RecordStore {
    /// Returns all collections of all namespaces.
    ///
    /// - Parameter sizes: A Boolean value that indicates whether to also count the bytes of their records.
    package func list(sizes: Bool = false) async throws(BackplaneError) -> [StoreCollectionForm] {
        var forms: [StoreCollectionForm] = []
        for namespace in try await namespaces() {
            for collection in try await collections(in: namespace) {
                var form = StoreCollectionForm(
                    namespace: namespace, collection: collection.definition.name, records: collection.count,
                    change: collection.change, indexes: collection.definition.indexes.map(StoreIndexForm.init))
                if sizes { form.bytes = try await size(of: form.collection, in: namespace) }
                forms.append(form)
            }
        }
        return forms
    }

    /// Returns a page of a collection in the order of the ids, or only the record with an id.
    package func read(_ collection: String, id: String?, after: PageCursor?, limit: Int, in namespace: String)
        async throws(BackplaneError) -> RecordPage
    {
        var query = RecordQuery(collection: collection, after: after, limit: limit)
        if let id { query.selection = .ids([id]) }
        return try await read(query, in: namespace)
    }

    /// Adds indexes to those that a collection has.
    package func add(_ indexes: [IndexDefinition], to collection: String, in namespace: String)
        async throws(BackplaneError)
    {
        let known = try await collections(in: namespace).map(\.definition).first {
            $0.name.utf8.elementsEqual(collection.utf8)
        }
        let new = indexes.filter { index in
            known?.indexes.contains { $0.name.utf8.elementsEqual(index.name.utf8) } != true
        }
        guard !new.isEmpty else { return }
        try await define(CollectionDefinition(collection, indexes: (known?.indexes ?? []) + new), in: namespace)
    }

    /// Stores records atomically.
    ///
    /// - Parameter isOverwriting: Whether a record with the same id is replaced.
    /// - Throws: `store.conflict` if there is a record with the same id and it is not to be replaced.
    package func restore(
        _ records: [(collection: String, record: StoredRecord)], overwriting isOverwriting: Bool, in namespace: String
    ) async throws(BackplaneError) {
        let conditions: [RecordCondition] =
            isOverwriting ? [] : records.map { .version(collection: $0.collection, id: $0.record.id, 0) }
        _ = try await write(
            RecordBatch(records.map { .save(collection: $0.collection, $0.record) }, if: conditions), in: namespace)
    }
}
