import Backplane
package import BackplaneStorage

/// A collection in memory: its records, their order, its indexes and its log.
struct MemoryCollection {
    /// A record without its id.
    struct StoredValue {
        var value: [UInt8]
        var version: Int64
    }

    let name: String
    /// The records by the bytes of their ids, because distinct ids may compare equal as strings.
    private(set) var records: [[UInt8]: StoredValue] = [:]
    /// The ids, in order.
    private var ids: [[UInt8]] = []
    private var indexes: [MemoryIndex] = []
    /// The full-text indexes, which only other engines can search.
    private var textIndexes: [IndexDefinition] = []
    /// The number of the last change.
    private(set) var change: Int64 = 0
    private var log: [LoggedChange] = []
    /// The number of the last change that is no longer in the log.
    private var trimmed: Int64 = 0

    init(_ name: String) { self.name = name }

    var summary: CollectionSummary {
        let definitions = (indexes.map(\.definition) + textIndexes).sorted {
            Array($0.name.utf8).precedes(Array($1.name.utf8))
        }
        return CollectionSummary(
            definition: CollectionDefinition(name, indexes: definitions), count: records.count, change: change)
    }

    // MARK: Indexes

    mutating func define(_ definitions: [IndexDefinition]) throws(BackplaneError) {
        var added: [MemoryIndex] = [], duplicate: BackplaneError?
        textIndexes = definitions.filter { $0.text != nil }
        for definition in definitions where definition.text == nil {
            if let index = indexes.first(where: { $0.definition.isSame(as: definition) }) {
                added.append(index)
                continue
            }
            let index = MemoryIndex(definition, of: records)
            if definition.isUnique, let (one, other) = index.firstDuplicate {
                duplicate = duplicate ?? .duplicate(name, index: definition.name, one, other)
            } else {
                added.append(index)
            }
        }
        indexes = added
        if let duplicate { throw duplicate }
    }

    /// Checks that no unique index would contain a key twice.
    ///
    /// - Throws: `store.duplicate` if two records would have the same values in a unique index.
    func requireUniqueness(after changes: PendingChanges) throws(BackplaneError) {
        for index in indexes where index.definition.isUnique {
            var holders: [[UInt8]: [UInt8]] = [:]
            for (id, value) in changes.values {
                guard let value else { continue }
                let key = index.key(of: value)
                if IndexKey.containsNull(key) { continue }
                let stored = changes.isEmptied ? [] : index.ids(of: key)
                let other = holders[key] ?? stored.first { $0 != id && changes.values[$0] == nil }
                if let other {
                    throw .duplicate(
                        name, index: index.definition.name, String(decoding: id, as: UTF8.self),
                        String(decoding: other, as: UTF8.self))
                }
                holders[key] = id
            }
        }
    }

    // MARK: Changes

    /// Applies a change and returns its number, or 0 if it has changed nothing.
    mutating func apply(_ change: RecordChange, number: Int64) -> Int64 {
        switch change {
        case .save(_, let record):
            let id = Array(record.id.utf8),
                old = records.updateValue(StoredValue(value: record.value, version: number), forKey: id)
            if old == nil { ids.insert(id, at: ids.place { $0.precedes(id) }) }
            for index in indexes.indices { indexes[index].replace(old?.value, with: record.value, of: id) }
            note(LoggedChange(number: number, kind: old == nil ? .insert : .update, id: record.id))
        case .delete(_, let text):
            let id = Array(text.utf8)
            guard let old = records.removeValue(forKey: id) else { return 0 }
            ids.remove(at: ids.place { $0.precedes(id) })
            for index in indexes.indices { indexes[index].replace(old.value, with: nil, of: id) }
            note(LoggedChange(number: number, kind: .delete, id: text))
        case .deleteAll:
            guard !records.isEmpty else { return 0 }
            (records, ids) = ([:], [])
            for index in indexes.indices { indexes[index].removeAll() }
            note(LoggedChange(number: number, kind: .deleteAll, id: ""))
        }
        return number
    }

    private mutating func note(_ logged: LoggedChange) {
        change = logged.number
        log.append(logged)
        guard log.count >= RecordLimits.log + RecordLimits.logSurplus else { return }
        trimmed = log[RecordLimits.logSurplus - 1].number
        log.removeFirst(RecordLimits.logSurplus)
    }

    func changes(since number: Int64, limit: Int) -> ChangePage {
        // A number that the store has not given yet comes from a store that was replaced.
        let hasMissed = number < trimmed || number > change, first = hasMissed ? trimmed : number
        let rest = log[log.place { $0.number <= first }...], taken = rest.prefix(max(0, min(limit, RecordLimits.page)))
        var size = 0, changes: [LoggedChange] = []
        for logged in taken {
            var logged = logged
            if let record = records[Array(logged.id.utf8)], record.version == logged.number {
                logged.record = StoredRecord(id: logged.id, value: record.value, version: record.version)
            }
            size += logged.record?.value.count ?? 0
            changes.append(logged)
            if size >= RecordLimits.pageBytes { break }
        }
        return ChangePage(
            changes: changes, last: changes.last?.number ?? first, hasMore: changes.count < rest.count,
            hasMissed: hasMissed)
    }

    // MARK: Queries

    func page(_ query: RecordQuery) throws(BackplaneError) -> RecordPage {
        let limit = max(0, min(query.limit, RecordLimits.page)), entries = try entries(of: query, limit: limit + 1)
        var page = RecordPage(records: [], change: change), size = 0
        for entry in entries.prefix(limit) where size < RecordLimits.pageBytes {
            guard let record = records[entry.id] else { continue }
            size += query.isWithoutValues ? 0 : record.value.count
            page.records.append(
                StoredRecord(
                    id: String(decoding: entry.id, as: UTF8.self), value: query.isWithoutValues ? [] : record.value,
                    version: record.version))
        }
        if page.records.count < entries.count, let last = entries.prefix(page.records.count).last {
            page.next = query.isOfIndex ? PageCursor(key: last.key, id: last.id) : PageCursor(id: last.id)
        }
        return page
    }

    func count(_ query: RecordQuery) throws(BackplaneError) -> Int {
        var query = query
        (query.after, query.isDescending) = (nil, false)
        return try entries(of: query, limit: .max).count
    }

    /// Returns the first entries that a query selects after its cursor, in its order.
    private func entries(of query: RecordQuery, limit: Int) throws(BackplaneError) -> [MemoryIndex.Entry] {
        switch query.selection {
        case .search(let name, let text):
            _ = try SearchedWords(text, query)
            guard textIndexes.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
                throw .unindexed(self.name, name, known: textIndexes.map(\.name))
            }
            throw BackplaneError(
                .storeUnsupported, "an in-memory store does not support full-text search; use a store in a file",
                at: self.name)
        case .ids(let wanted):
            let bounds = try KeyBounds(ofIDs: RecordRange(), query)
            let found = Set(wanted.map { Array($0.utf8) }).filter { records[$0] != nil }
            let entries = found.sorted { $0.precedes($1) }.map { MemoryIndex.Entry(key: $0, id: $0) }
            return bounds.rest(of: entries, query, limit)
        case .range(let range):
            guard let name = range.index else {
                let bounds = try KeyBounds(ofIDs: range, query)
                let entries = ids[ids.place { $0.precedes(bounds.lower) }..<ids.place { $0.precedes(bounds.upper) }]
                    .lazy.map { MemoryIndex.Entry(key: $0, id: $0) }
                return bounds.rest(of: entries, query, limit)
            }
            guard let index = indexes.first(where: { $0.definition.name.utf8.elementsEqual(name.utf8) }) else {
                throw .unindexed(self.name, name, known: indexes.map(\.definition.name))
            }
            let bounds = try KeyBounds(range, properties: index.definition.paths.count, query)
            return bounds.rest(of: index.entries(from: bounds.lower, to: bounds.upper), query, limit)
        }
    }
}

extension KeyBounds {
    /// Returns the first entries after the start of a query, in its order.
    fileprivate func rest(
        of entries: some RandomAccessCollection<MemoryIndex.Entry>, _ query: RecordQuery, _ limit: Int
    )
        -> [MemoryIndex.Entry]
    {
        let start = MemoryIndex.Entry(key: start.key, id: start.id)
        if query.isDescending { return entries[..<entries.place { $0.precedes(start) }].suffix(limit).reversed() }
        return Array(entries[entries.place { !start.precedes($0) }...].prefix(limit))
    }
}

extension RecordQuery {
    /// A Boolean value that indicates whether the query is over an index rather than over ids.
    package var isOfIndex: Bool {
        if case .range(let range) = selection { return range.index != nil }
        return false
    }
}

extension IndexDefinition {
    /// Returns whether a definition is the same, by the bytes of its strings.
    package func isSame(as other: IndexDefinition) -> Bool {
        text?.tokenizer == other.text?.tokenizer && text?.prefixes == other.text?.prefixes
            && isUnique == other.isUnique && name.utf8.elementsEqual(other.name.utf8)
            && paths.map { Array($0.utf8) } == other.paths.map { Array($0.utf8) }
    }
}

extension RandomAccessCollection {
    /// Returns the position of the first element that does not satisfy a predicate, which all elements before it do.
    func place(where isBefore: (Element) -> Bool) -> Index {
        var lower = 0, upper = count
        while lower < upper {
            let middle = (lower + upper) / 2
            if isBefore(self[index(startIndex, offsetBy: middle)]) { lower = middle + 1 } else { upper = middle }
        }
        return index(startIndex, offsetBy: lower)
    }
}
