import Backplane
import BackplaneRecords
import BackplaneStorage
import CBackplane

// The structs of `backplane.store/2`, copied from a plugin. What cannot be read is `call.invalid-input`.

extension CollectionDefinition {
    init(copying collection: UnsafePointer<bp_store_collection>) throws(BackplaneError) {
        let lent: bp_store_collection = read(collection)
        self.init(lent.name.text)
        for index in try array(lent.indexes, lent.index_count, of: "the indexes", limit: Descriptors.limit) {
            let paths = try texts(index.paths, index.path_count, of: "the key paths").map(\.text)
            indexes.append(
                IndexDefinition(
                    paths: paths, name: index.name.length == 0 ? nil : index.name.text,
                    isUnique: index.flags & UInt32(BP_INDEX_UNIQUE) != 0, text: try TextIndexing(copying: index)))
        }
    }
}

extension TextIndexing {
    /// Copies the settings of a full-text index; `nil` for an index of values.
    fileprivate init?(copying index: bp_store_index) throws(BackplaneError) {
        guard index.flags & UInt32(BP_INDEX_TEXT) != 0 else { return nil }
        let name = index.tokenizer.text
        guard let tokenizer = name.isEmpty ? .unicode : TextTokenizer(rawValue: name) else {
            throw BackplaneError(
                .callInvalidInput,
                "expected the tokenizer `unicode`, `english` or `substrings`, found \(RecordLimits.shortened(name))")
        }
        let lengths = try plain(index.prefixes, index.prefix_count, of: "the prefixes", limit: RecordLimits.prefixes)
        self.init(tokenizer, prefixes: lengths.map { Int($0) })
    }
}

extension RecordBatch {
    init(copying batch: UnsafePointer<bp_store_batch>) throws(BackplaneError) {
        let lent: bp_store_batch = read(batch)
        self.init(
            try [RecordChange](copying: lent.changes, count: lent.change_count),
            if: try copied(lent.conditions, lent.condition_count))
    }
}

extension RecordQuery {
    init(copying selection: UnsafePointer<bp_store_selection>) throws(BackplaneError) {
        let lent: bp_store_selection = read(selection)
        let collection = lent.collection.text
        func has(_ flag: Int) -> Bool { lent.flags & UInt32(flag) != 0 }
        func value(_ json: bp_bytes) throws(BackplaneError) -> IndexedValue {
            if let value = IndexedValue(json: json.array) { return value }
            throw BackplaneError(
                .callInvalidInput,
                "expected a JSON number, string, Boolean or `null`, found \(RecordLimits.shortened(json.text))",
                at: collection)
        }
        func limit(_ json: bp_bytes) throws(BackplaneError) -> IndexedValue? {
            json.length == 0 ? nil : try value(json)
        }
        let kind: Selection
        if let ids = lent.ids {
            kind = .ids(try texts(ids, lent.id_count, of: "the ids", limit: Descriptors.dataLimit).map(\.text))
        } else {
            var range = RecordRange(of: lent.index.length == 0 ? nil : lent.index.text)
            for json in try texts(lent.equal, lent.equal_count, of: "the values") {
                range.equal.append(try value(json))
            }
            let from = try limit(lent.from)
            if has(BP_SELECT_PREFIX) {
                guard case .text(let prefix) = from else {
                    throw BackplaneError(
                        .callInvalidInput, "expected a JSON string as the prefix, found another value",
                        at: collection)
                }
                range.bounds = .prefix(prefix)
            } else if let to = try limit(lent.to) {
                range.bounds = .between(
                    from, and: to, includingFirst: !has(BP_SELECT_AFTER_FROM),
                    includingLast: has(BP_SELECT_THROUGH_TO))
            } else if let from {
                range.bounds = .between(from, and: nil, includingFirst: !has(BP_SELECT_AFTER_FROM))
            }
            kind = .range(range)
        }
        self.init(
            collection: collection, kind, isDescending: has(BP_SELECT_DESCENDING),
            after: lent.after.length == 0 ? nil : PageCursor(bytes: lent.after.array),
            limit: Int(clamping: lent.limit), isWithoutValues: has(BP_SELECT_WITHOUT_VALUES),
            if: try copied(lent.conditions, lent.condition_count))
    }
}

extension RecordQuery {
    init(copying search: UnsafePointer<bp_store_search>) throws(BackplaneError) {
        let lent: bp_store_search = read(search)
        self.init(
            collection: lent.collection.text, .search(index: lent.index.text, text: lent.text.text),
            after: lent.after.length == 0 ? nil : PageCursor(bytes: lent.after.array), limit: Int(clamping: lent.limit),
            isWithoutValues: lent.flags & UInt32(BP_SELECT_WITHOUT_VALUES) != 0,
            if: try copied(lent.conditions, lent.condition_count))
    }
}

private func copied(_ lent: UnsafePointer<bp_store_condition>?, _ count: Int) throws(BackplaneError)
    -> [RecordCondition]
{
    try array(lent, count, of: "the conditions").map { (condition) throws(BackplaneError) in
        switch Int(condition.kind) {
        case Int(BP_STORE_IF_VERSION):
            .version(collection: condition.collection.text, id: condition.id.text, condition.number)
        case Int(BP_STORE_IF_UNCHANGED): .unchanged(collection: condition.collection.text, since: condition.number)
        default:
            throw BackplaneError(.callInvalidInput, "expected a condition of kind 1 or 2, found \(condition.kind)")
        }
    }
}

private func array<Value: BitwiseCopyable>(
    _ lent: UnsafePointer<Value>?, _ count: Int, of what: String, limit: Int = Descriptors.dataLimit
) throws(BackplaneError) -> [Value] {
    do throws(BackplaneError) {
        return try Descriptors.read(lent, count: count, of: what, limit: limit)
    } catch {
        throw BackplaneError(.callInvalidInput, error.message)
    }
}

/// Returns consecutively stored byte strings, whose structs have no size field.
private func texts(
    _ lent: UnsafePointer<bp_bytes>?, _ count: Int, of what: String, limit: Int = RecordLimits.indexes
) throws(BackplaneError) -> [bp_bytes] { try plain(lent, count, of: what, limit: limit) }

/// Returns consecutively stored values, whose structs have no size field.
private func plain<Value: BitwiseCopyable>(_ lent: UnsafePointer<Value>?, _ count: Int, of what: String, limit: Int)
    throws(BackplaneError) -> [Value]
{
    guard (0...limit).contains(count) else {
        throw BackplaneError(
            .callInvalidInput, "\(what): expected at most \(limit), found a count of \(UInt(bitPattern: count))")
    }
    guard count == 0 || lent != nil else {
        throw BackplaneError(.callInvalidInput, "\(what): found a count of \(count) without an array")
    }
    return Array(UnsafeBufferPointer(start: lent, count: count))
}
