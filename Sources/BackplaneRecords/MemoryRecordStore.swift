public import Backplane
public import BackplaneStorage
import Synchronization

/// A record store in memory, whose content is not saved: for tests, and for hosts without engines.
///
/// It does not support full-text search. Records are sorted when they are read, so that each page costs as much as the
/// whole collection.
public final class MemoryRecordStore: RecordStore {
    private let state = Mutex(MemoryRecords())
    private let signals = ChangeSignals()

    /// Creates an empty store.
    public init() {}

    /// Sets the indexes of a collection as defined.
    ///
    /// - Throws: `store.duplicate`; `call.invalid-input`.
    public func define(_ collection: CollectionDefinition, in namespace: String) async throws(BackplaneError) {
        try RecordLimits.check(name: namespace, "a namespace")
        try RecordLimits.check(collection)
        try state.withLock { records throws(BackplaneError) in try records.define(collection, in: namespace) }
    }

    /// Applies all changes atomically and in order.
    ///
    /// - Throws: `store.conflict`; `store.duplicate`; `call.invalid-input`.
    public func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        try RecordLimits.check(name: namespace, "a namespace")
        try RecordLimits.check(batch)
        let numbers = try state.withLock { records throws(BackplaneError) in try records.write(batch, in: namespace) }
        signals.written(batch, in: namespace)
        return numbers
    }

    /// Returns one page of the records that a query selects.
    ///
    /// - Throws: `store.conflict`; `store.unindexed`; `store.unsupported` for a search; `call.invalid-input`.
    public func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        try state.withLock { records throws(BackplaneError) in
            try records.require(query.conditions, in: namespace)
            var page = try records.collection(query.collection, in: namespace).page(query)
            page.namespaceChange = records.collections(in: namespace).map(\.change).max() ?? 0
            return page
        }
    }

    /// Returns the number of records that a query selects.
    ///
    /// - Throws: The errors of ``read(_:in:)``.
    public func count(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> Int {
        try state.withLock { records throws(BackplaneError) in
            try records.require(query.conditions, in: namespace)
            return try records.collection(query.collection, in: namespace).count(query)
        }
    }

    /// Returns changes of a collection from its log.
    public func changes(of collection: String, since number: Int64, limit: Int, in namespace: String)
        async throws(BackplaneError) -> ChangePage
    {
        state.withLock { $0.collection(collection, in: namespace).changes(since: number, limit: limit) }
    }

    /// Waits until a collection has a change after a number.
    ///
    /// - Throws: `call.cancelled`.
    public func waitForChange(of collection: String, since number: Int64, in namespace: String)
        async throws(BackplaneError)
    {
        try await signals.wait(for: collection, in: namespace, since: number) {
            state.withLock { $0.collection(collection, in: namespace).change }
        }
    }

    /// The number of tasks that wait for a change.
    package var waitingTasks: Int { signals.waitingTasks }

    /// Returns the namespaces that have collections.
    public func namespaces() async throws(BackplaneError) -> [String] {
        state.withLock { $0.namespaces.keys.sorted { $0.precedes($1) } }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the collections of a namespace.
    public func collections(in namespace: String) async throws(BackplaneError) -> [CollectionSummary] {
        state.withLock { $0.collections(in: namespace) }.map(\.summary).sorted {
            Array($0.definition.name.utf8).precedes(Array($1.definition.name.utf8))
        }
    }
}

/// The content of a store in memory. Names are compared by their bytes.
private struct MemoryRecords {
    private(set) var namespaces: [[UInt8]: [[UInt8]: MemoryCollection]] = [:]
    /// The number of the last change.
    private var change: Int64 = 0

    /// Returns a collection, which is empty if there is none.
    func collection(_ name: String, in namespace: String) -> MemoryCollection {
        namespaces[Array(namespace.utf8)]?[Array(name.utf8)] ?? MemoryCollection(name)
    }

    func collections(in namespace: String) -> [MemoryCollection] {
        namespaces[Array(namespace.utf8)].map { Array($0.values) } ?? []
    }

    mutating func define(_ definition: CollectionDefinition, in namespace: String) throws(BackplaneError) {
        let name = Array(definition.name.utf8), space = Array(namespace.utf8)
        // A definition without indexes creates no collection.
        guard namespaces[space]?[name] != nil || !definition.indexes.isEmpty else { return }
        try namespaces[space, default: [:]][name, default: MemoryCollection(definition.name)].define(
            definition.indexes)
    }

    mutating func write(_ batch: RecordBatch, in namespace: String) throws(BackplaneError) -> [Int64] {
        try require(batch.conditions, in: namespace)
        let space = Array(namespace.utf8)
        for (name, changes) in Dictionary(grouping: batch.changes, by: { Array($0.collection.utf8) }) {
            try namespaces[space]?[name]?.requireUniqueness(after: changes)
        }
        return batch.changes.map { change in
            // Changes the collection in the dictionary, without a copy.
            let number = namespaces[space, default: [:]][
                Array(change.collection.utf8), default: MemoryCollection(change.collection)
            ].apply(change, number: self.change + 1)
            self.change = max(self.change, number)
            return number
        }
    }

    func require(_ conditions: [RecordCondition], in namespace: String) throws(BackplaneError) {
        for condition in conditions {
            switch condition {
            case .version(let name, let id, let expected):
                let found = collection(name, in: namespace).records[Array(id.utf8)]?.version ?? 0
                guard found == expected else { throw .conflict(name, id, expected: expected, found: found) }
            case .unchanged(let name, let number):
                let found = collection(name, in: namespace).change
                guard found <= number else { throw .conflict(name, since: number, found: found) }
            }
        }
    }
}

/// A collection in memory: its records, the keys of its indexes and its log.
private struct MemoryCollection {
    /// A record without its id.
    struct StoredValue {
        var value: [UInt8]
        var version: Int64
    }
    /// The position of a record in the order of an index, or of the ids.
    struct Entry {
        var key, id: [UInt8]

        func precedes(_ other: Entry) -> Bool { key == other.key ? id.precedes(other.id) : key.precedes(other.key) }
    }
    /// The keys of an index of values by record; none for an index of texts, which only other engines support.
    struct Index {
        let definition: IndexDefinition
        private let paths: [[[UInt8]]]
        var keys: [[UInt8]: [UInt8]] = [:]

        init(_ definition: IndexDefinition) {
            (self.definition, paths) = (definition, IndexKey.names(of: definition.paths))
        }

        func key(of value: [UInt8]) -> [UInt8] { IndexKey.bytes(in: value, at: paths) }

        mutating func enter(_ value: [UInt8], of id: [UInt8]) {
            if definition.text == nil { keys[id] = key(of: value) }
        }
    }

    let name: String
    /// The records by the bytes of their ids, because distinct ids may compare equal as strings.
    private(set) var records: [[UInt8]: StoredValue] = [:]
    private var indexes: [Index] = []
    /// The number of the last change.
    private(set) var change: Int64 = 0
    private var log: [LoggedChange] = []
    /// The number of the last change that is no longer in the log.
    private var trimmed: Int64 = 0

    init(_ name: String) { self.name = name }

    var summary: CollectionSummary {
        let definitions = indexes.map(\.definition).sorted { Array($0.name.utf8).precedes(Array($1.name.utf8)) }
        return CollectionSummary(
            definition: CollectionDefinition(name, indexes: definitions), count: records.count, change: change)
    }

    // MARK: Changes

    mutating func define(_ definitions: [IndexDefinition]) throws(BackplaneError) {
        var defined: [Index] = [], duplicate: BackplaneError?
        for definition in definitions {
            if let index = indexes.first(where: { $0.definition.isSame(as: definition) }) {
                defined.append(index)
                continue
            }
            var index = Index(definition)
            for (id, record) in records { index.enter(record.value, of: id) }
            do throws(BackplaneError) {
                if definition.isUnique {
                    try requireUniqueness(of: index.keys.keys.sorted { $0.precedes($1) }, among: index.keys, in: index)
                }
                defined.append(index)
            } catch {
                duplicate = duplicate ?? error
            }
        }
        indexes = defined
        if let duplicate { throw duplicate }
    }

    /// Checks that no unique index would contain a key twice.
    ///
    /// - Throws: `store.duplicate` if two records would have the same values in a unique index.
    func requireUniqueness(after changes: [RecordChange]) throws(BackplaneError) {
        for index in indexes where index.definition.isUnique {
            var keys = index.keys, saved: [[UInt8]] = []
            for change in changes {
                switch change {
                case .save(_, let record):
                    saved.append(Array(record.id.utf8))
                    keys[Array(record.id.utf8)] = index.key(of: record.value)
                case .delete(_, let id): keys[Array(id.utf8)] = nil
                case .deleteAll: keys = [:]
                }
            }
            try requireUniqueness(of: saved, among: keys, in: index)
        }
    }

    /// Checks that no other record has the key of one of some records.
    private func requireUniqueness(of ids: [[UInt8]], among keys: [[UInt8]: [UInt8]], in index: Index)
        throws(BackplaneError)
    {
        let holders = Dictionary(grouping: keys.keys) { keys[$0] }
        for id in ids {
            guard let key = keys[id], !IndexKey.containsNull(key),
                let other = holders[key]?.first(where: { $0 != id })
            else { continue }
            throw .duplicate(
                name, index: index.definition.name, String(decoding: id, as: UTF8.self),
                String(decoding: other, as: UTF8.self))
        }
    }

    /// Applies a change, and returns its number, or 0 if the change has no effect.
    mutating func apply(_ change: RecordChange, number: Int64) -> Int64 {
        switch change {
        case .save(_, let record):
            let id = Array(record.id.utf8)
            let old = records.updateValue(StoredValue(value: record.value, version: number), forKey: id)
            for place in indexes.indices { indexes[place].enter(record.value, of: id) }
            note(LoggedChange(number: number, kind: old == nil ? .insert : .update, id: record.id))
        case .delete(_, let text):
            let id = Array(text.utf8)
            guard records.removeValue(forKey: id) != nil else { return 0 }
            for place in indexes.indices { indexes[place].keys[id] = nil }
            note(LoggedChange(number: number, kind: .delete, id: text))
        case .deleteAll:
            guard !records.isEmpty else { return 0 }
            records = [:]
            for place in indexes.indices { indexes[place].keys = [:] }
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
        // A number that this store has not assigned comes from a store that was replaced.
        let hasMissed = number < trimmed || number > change, first = hasMissed ? trimmed : number
        var place = 0, end = log.count
        while place < end {
            let middle = (place + end) / 2
            if log[middle].number <= first { place = middle + 1 } else { end = middle }
        }
        let rest = log[place...]
        var size = 0, changes: [LoggedChange] = []
        for logged in rest.prefix(max(0, min(limit, RecordLimits.page))) where size < RecordLimits.pageBytes {
            var logged = logged
            if let record = records[Array(logged.id.utf8)], record.version == logged.number {
                logged.record = StoredRecord(id: logged.id, value: record.value, version: record.version)
            }
            size += logged.record?.value.count ?? 0
            changes.append(logged)
        }
        return ChangePage(
            changes: changes, last: changes.last?.number ?? first, hasMore: changes.count < rest.count,
            hasMissed: hasMissed)
    }

    // MARK: Queries

    func page(_ query: RecordQuery) throws(BackplaneError) -> RecordPage {
        let limit = max(0, min(query.limit, RecordLimits.page)), entries = try entries(of: query)
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
        return try entries(of: query).count
    }

    /// Returns the entries that a query selects after its cursor, in its order.
    private func entries(of query: RecordQuery) throws(BackplaneError) -> [Entry] {
        switch query.selection {
        case .search(let name, let text):
            _ = try SearchedWords(text, query)
            _ = try index(name) { $0.text != nil }
            throw BackplaneError(
                .storeUnsupported,
                "expected a store with full-text search, found one in memory; set `openStore` of `HostOptions` or, in "
                    + "a test, of `TestHost.run`, to open a `SQLiteRecordStore`", at: self.name)
        case .ids(let ids):
            let found = Set(ids.map { Array($0.utf8) }).filter { records[$0] != nil }
            return try KeyBounds(ofIDs: RecordRange(), query).sorted(found.map { Entry(key: $0, id: $0) }, query)
        case .range(let range):
            guard let name = range.index else {
                return try KeyBounds(ofIDs: range, query).sorted(records.keys.map { Entry(key: $0, id: $0) }, query)
            }
            let index = try index(name) { $0.text == nil }
            let bounds = try KeyBounds(range, properties: index.definition.paths.count, query)
            return bounds.sorted(index.keys.map { Entry(key: $0.value, id: $0.key) }, query)
        }
    }

    private func index(_ name: String, of kind: (IndexDefinition) -> Bool) throws(BackplaneError) -> Index {
        let known = indexes.filter { kind($0.definition) }
        if let index = known.first(where: { $0.definition.name.utf8.elementsEqual(name.utf8) }) { return index }
        throw .unindexed(self.name, name, known: known.map(\.definition.name))
    }
}

extension KeyBounds {
    /// Returns the entries within the bounds that come after the start of a query, in its order.
    fileprivate func sorted(_ entries: [MemoryCollection.Entry], _ query: RecordQuery) -> [MemoryCollection.Entry] {
        let start = MemoryCollection.Entry(key: start.key, id: start.id)
        let chosen = entries.filter { entry in
            !entry.key.precedes(lower) && entry.key.precedes(upper)
                && (query.isDescending ? entry.precedes(start) : start.precedes(entry))
        }
        return chosen.sorted { query.isDescending ? $1.precedes($0) : $0.precedes($1) }
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
