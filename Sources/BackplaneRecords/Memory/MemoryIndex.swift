import BackplaneStorage

/// An index in memory.
struct MemoryIndex {
    /// The position of a record in the index.
    struct Entry {
        var key, id: [UInt8]

        func precedes(_ other: Entry) -> Bool { key == other.key ? id.precedes(other.id) : key.precedes(other.key) }
    }

    let definition: IndexDefinition
    private let paths: [[[UInt8]]]
    /// The entries, in order.
    private var entries: [Entry] = []

    init(_ definition: IndexDefinition, of records: [[UInt8]: MemoryCollection.StoredValue]) {
        (self.definition, paths) = (definition, IndexKey.names(of: definition.paths))
        entries = records.map { Entry(key: key(of: $0.value.value), id: $0.key) }.sorted { $0.precedes($1) }
    }

    func key(of value: [UInt8]) -> [UInt8] { IndexKey.bytes(in: value, at: paths) }

    /// The ids of two records with the same values, none of which is `null`.
    var firstDuplicate: (String, String)? {
        for (one, other) in zip(entries, entries.dropFirst())
        where one.key == other.key && !IndexKey.containsNull(one.key) {
            return (String(decoding: one.id, as: UTF8.self), String(decoding: other.id, as: UTF8.self))
        }
        return nil
    }

    /// Replaces the entry of a record.
    mutating func replace(_ old: [UInt8]?, with new: [UInt8]?, of id: [UInt8]) {
        let before = old.map { Entry(key: key(of: $0), id: id) }, after = new.map { Entry(key: key(of: $0), id: id) }
        guard before?.key != after?.key else { return }
        if let before { entries.remove(at: entries.place { $0.precedes(before) }) }
        if let after { entries.insert(after, at: entries.place { $0.precedes(after) }) }
    }

    mutating func removeAll() { entries = [] }

    func entries(from lower: [UInt8], to upper: [UInt8]) -> ArraySlice<Entry> {
        entries[entries.place { $0.key.precedes(lower) }..<entries.place { $0.key.precedes(upper) }]
    }

    func ids(of key: [UInt8]) -> [[UInt8]] {
        entries[entries.place { $0.key.precedes(key) }...].prefix { $0.key == key }.map(\.id)
    }
}
