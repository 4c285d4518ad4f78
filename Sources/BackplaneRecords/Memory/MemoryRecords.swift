import Backplane
import BackplaneStorage

/// The content of a store in memory.
struct MemoryRecords {
    /// The collections, keyed by namespace and name; names are compared by their bytes.
    private var namespacesByName: [[UInt8]: [[UInt8]: MemoryCollection]] = [:]
    /// The number of the last change.
    private var change: Int64 = 0

    private func collection(_ name: String, in namespace: String) -> MemoryCollection? {
        namespacesByName[Array(namespace.utf8)]?[Array(name.utf8)]
    }

    mutating func define(_ definition: CollectionDefinition, in namespace: String) throws(BackplaneError) {
        let known = collection(definition.name, in: namespace)
        // A definition without indexes creates no collection.
        guard var collection = known ?? (definition.indexes.isEmpty ? nil : MemoryCollection(definition.name)) else {
            return
        }
        defer { namespacesByName[Array(namespace.utf8), default: [:]][Array(definition.name.utf8)] = collection }
        try collection.define(definition.indexes)
    }

    mutating func write(_ batch: RecordBatch, in namespace: String) throws(BackplaneError) -> [Int64] {
        try require(batch.conditions, in: namespace)
        var pending: [[UInt8]: PendingChanges] = [:]
        for change in batch.changes { pending[Array(change.collection.utf8), default: PendingChanges()].add(change) }
        for (name, changes) in pending {
            try namespacesByName[Array(namespace.utf8)]?[name]?.requireUniqueness(after: changes)
        }
        return batch.changes.map { change in
            // Without a copy of the collection, which stays in the dictionary.
            let number = namespacesByName[Array(namespace.utf8), default: [:]][
                Array(change.collection.utf8), default: MemoryCollection(change.collection)
            ].apply(change, number: self.change + 1)
            self.change = max(self.change, number)
            return number
        }
    }

    private func require(_ conditions: [RecordCondition], in namespace: String) throws(BackplaneError) {
        for condition in conditions {
            switch condition {
            case .version(let name, let id, let expected):
                let found = collection(name, in: namespace)?.records[Array(id.utf8)]?.version ?? 0
                guard found == expected else { throw .conflict(name, id, expected: expected, found: found) }
            case .unchanged(let name, let number):
                let found = lastChange(of: name, in: namespace)
                guard found <= number else { throw .conflict(name, since: number, found: found) }
            }
        }
    }

    func page(_ query: RecordQuery, in namespace: String) throws(BackplaneError) -> RecordPage {
        try require(query.conditions, in: namespace)
        var page = try (collection(query.collection, in: namespace) ?? MemoryCollection(query.collection)).page(query)
        page.namespaceChange = namespacesByName[Array(namespace.utf8)]?.values.map(\.change).max() ?? 0
        return page
    }

    func count(_ query: RecordQuery, in namespace: String) throws(BackplaneError) -> Int {
        try require(query.conditions, in: namespace)
        return try (collection(query.collection, in: namespace) ?? MemoryCollection(query.collection)).count(query)
    }

    func changes(of name: String, since number: Int64, limit: Int, in namespace: String) -> ChangePage {
        (collection(name, in: namespace) ?? MemoryCollection(name)).changes(since: number, limit: limit)
    }

    /// Returns the number of the last change of a collection, 0 for none.
    func lastChange(of name: String, in namespace: String) -> Int64 { collection(name, in: namespace)?.change ?? 0 }

    var namespaces: [String] {
        namespacesByName.keys.sorted { $0.precedes($1) }.map { String(decoding: $0, as: UTF8.self) }
    }

    func collections(in namespace: String) -> [CollectionSummary] {
        let collections = namespacesByName[Array(namespace.utf8)] ?? [:]
        return collections.sorted { $0.key.precedes($1.key) }.map { $0.value.summary }
    }
}

/// The state of one collection after a batch, before it is committed.
struct PendingChanges {
    /// A Boolean value that indicates whether the records before the batch are deleted.
    private(set) var isEmptied = false
    /// The values, keyed by id; `nil` for deleted records.
    private(set) var values: [[UInt8]: [UInt8]?] = [:]

    mutating func add(_ change: RecordChange) {
        switch change {
        case .save(_, let record): values[Array(record.id.utf8)] = .some(record.value)
        case .delete(_, let id): values[Array(id.utf8)] = .some(nil)
        case .deleteAll: (isEmptied, values) = (true, [:])
        }
    }
}
