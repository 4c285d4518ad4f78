import Backplane
import BackplaneRecords
import BackplaneStorage
import CBackplane

/// The functions of `backplane.store/1`.
let storeFunctions = bp_store_1(
    size: UInt32(MemoryLayout<bp_store_1>.size), reserved: 0,
    write: { handle, changes, count, done, context in
        _ = start(handle, nil, Reply(done, context).end) { component throws(BackplaneError) in
            let changes = try [RecordChange](copying: changes, count: count)
            return { () throws(BackplaneError) in
                _ = try await component.write(RecordBatch(changes), for: nil)
                return EncodedAnswer([])
            }
        }
    },
    query: { handle, query, done, context in
        let lent: bp_store_query = read(query), collection = lent.collection.text
        let answer: Answer<(records: [StoredRecord], total: Int)> = answer(
            context,
            { context, found in
                Texts([Array(collection.utf8)] + found.records.flatMap { [Array($0.id.utf8), $0.value] }).withBytes {
                    bytes in
                    found.records.indices.map { index in
                        bp_record(
                            size: UInt32(MemoryLayout<bp_record>.size), reserved: 0, collection: bytes[0],
                            id: bytes[2 * index + 1], value: bytes[2 * index + 2])
                    }.withUnsafeBufferPointer {
                        done(context, Int32(BP_OK), $0.baseAddress, $0.count, UInt64(found.total), .empty)
                    }
                }
            }, or: { done($0, $1, nil, 0, 0, $2) })
        _ = start(handle, nil, answer) { component throws(BackplaneError) in
            let ids = try lent.ids.map { (ids) throws(BackplaneError) in
                try texts(ids, lent.id_count, of: "the ids", limit: Descriptors.dataLimit).map(\.text)
            }
            let (offset, limit) = (Int(clamping: lent.offset), Int(clamping: lent.limit))
            return { () throws(BackplaneError) in
                try await component.store.page(
                    of: collection, ids: ids, offset: offset, limit: limit, in: component.namespace)
            }
        }
    })

/// The functions of `backplane.store/2`.
let secondStoreFunctions = bp_store_2(
    size: UInt32(MemoryLayout<bp_store_2>.size), reserved: 0,
    define: { handle, collection, call, done, context in
        start(handle, call, Reply(done, context).end) { component throws(BackplaneError) in
            let definition = try CollectionDefinition(copying: collection)
            return { () throws(BackplaneError) in
                try await component.store.define(definition, in: component.namespace, by: handle)
                return EncodedAnswer([])
            }
        }
    },
    write: { handle, batch, call, done, context in
        let answer: Answer<[Int64]> = answer(
            context, { done($0, Int32(BP_OK), $1, $1.count, .empty) }, or: { done($0, $1, nil, 0, $2) })
        return start(handle, call, answer) { component throws(BackplaneError) in
            let batch = try RecordBatch(copying: batch), trace = call.flatMap { Call(copying: $0).trace }
            return { () throws(BackplaneError) in try await component.write(batch, for: trace) }
        }
    },
    read: { handle, selection, call, done, context in
        read(handle, call, done, context) { () throws(BackplaneError) in try RecordQuery(copying: selection) }
    },
    count: { handle, selection, call, done, context in
        start(handle, call, Reply(done, context).end) { component throws(BackplaneError) in
            let query = try RecordQuery(copying: selection)
            return { () throws(BackplaneError) in
                EncodedAnswer(Array("\(try await component.store.count(query, in: component.namespace))".utf8))
            }
        }
    },
    changes: { handle, collection, since, limit, call, done, context in
        let answer: Answer<ChangePage> = answer(
            context, { context, changes in changes.withC { done(context, Int32(BP_OK), $0, .empty) } },
            or: { done($0, $1, nil, $2) })
        return start(handle, call, answer) { component throws(BackplaneError) in
            let collection = collection.text, limit = Int(clamping: limit)
            return { () throws(BackplaneError) in
                try await component.store.changes(
                    of: collection, since: since, limit: limit, in: component.namespace)
            }
        }
    },
    cancel: { handle, id in ComponentHandles.find(handle)?.serviceOperations.cancel(id) },
    search: { handle, search, call, done, context in
        read(handle, call, done, context) { () throws(BackplaneError) in try RecordQuery(copying: search) }
    },
    wait: { handle, collection, since, call, done, context in
        start(handle, call, isWait: true, Reply(done, context).end) { component throws(BackplaneError) in
            let collection = collection.text
            return { () throws(BackplaneError) in
                try await component.store.waitForChange(of: collection, since: since, in: component.namespace)
                return EncodedAnswer([])
            }
        }
    })

/// Starts an operation of a data access controller.
private func start<Value: Sendable>(
    _ handle: UInt64, _ call: UnsafePointer<bp_call>?, isWait: Bool = false, _ answer: @escaping Answer<Value>,
    _ prepare: (OfferedServices) throws(BackplaneError) -> @Sendable () async throws(BackplaneError) -> Value
) -> UInt64 {
    OfferedServices.start(
        handle, "the operation on the store", of: BP_STORE, for: [.dataAccessController], call: call, isWait: isWait,
        answer, prepare)
}

/// Starts reading a page of records.
private func read(
    _ handle: UInt64, _ call: UnsafePointer<bp_call>?, _ done: @escaping bp_store_read,
    _ context: UnsafeMutableRawPointer?, _ query: () throws(BackplaneError) -> RecordQuery
) -> UInt64 {
    let answer: Answer<RecordPage> = answer(
        context, { context, page in page.withC { done(context, Int32(BP_OK), $0, .empty) } },
        or: { done($0, $1, nil, $2) })
    return start(handle, call, answer) { component throws(BackplaneError) in
        let query = try query()
        return { () throws(BackplaneError) in try await component.store.read(query, in: component.namespace) }
    }
}

// The structs of `backplane.store/2`, copied from a plugin. Unreadable values are `call.invalid-input`.

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

// Answers of the store, lent to a plugin's callback.

extension RecordPage {
    /// Lends the page for the duration of `body`.
    fileprivate func withC(_ body: (UnsafePointer<bp_store_page>) -> Void) {
        records.withC { records in
            (next?.bytes ?? []).withBytes { next in
                var page = bp_store_page(
                    size: UInt32(MemoryLayout<bp_store_page>.size), reserved: 0, records: records.baseAddress,
                    record_count: records.count, next: next, change: change, component_change: namespaceChange)
                body(&page)
            }
        }
    }
}

extension [StoredRecord] {
    fileprivate func withC(_ body: (UnsafeBufferPointer<bp_store_record>) -> Void) {
        Texts(flatMap { [[UInt8]($0.id.utf8), $0.value] }).withBytes { bytes in
            enumerated().map { index, record in
                bp_store_record(
                    size: UInt32(MemoryLayout<bp_store_record>.size), reserved: 0, id: bytes[2 * index],
                    value: bytes[2 * index + 1], version: record.version)
            }.withUnsafeBufferPointer(body)
        }
    }
}

extension ChangePage {
    fileprivate func withC(_ body: (UnsafePointer<bp_store_changes>) -> Void) {
        Texts(changes.flatMap { [Array($0.id.utf8), $0.record?.value ?? []] }).withBytes { bytes in
            changes.enumerated().map { index, change in
                bp_store_logged(
                    size: UInt32(MemoryLayout<bp_store_logged>.size), kind: UInt32(change.kind.rawValue),
                    number: change.number, id: bytes[2 * index], value: bytes[2 * index + 1])
            }.withUnsafeBufferPointer { lent in
                let flags = (hasMore ? BP_CHANGES_MORE : 0) | (hasMissed ? BP_CHANGES_MISSED : 0)
                var page = bp_store_changes(
                    size: UInt32(MemoryLayout<bp_store_changes>.size), flags: UInt32(flags), changes: lent.baseAddress,
                    change_count: lent.count, last: last)
                body(&page)
            }
        }
    }
}
