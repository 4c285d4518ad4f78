package import Backplane
package import CBackplane

extension StoreSelection {
    /// Lends the selection for the duration of `body`.
    func withC<Result>(_ body: (UnsafePointer<bp_store_selection>) -> Result) -> Result {
        let range = range ?? Range()
        return conditions.withC { conditions in
            let fixed = [
                Array(collection.utf8), Array((range.index ?? "").utf8), range.from ?? [], range.to ?? [],
                after?.bytes ?? [],
            ]
            return Texts(fixed + range.equal + (ids ?? []).map { Array($0.utf8) }).withBytes { bytes in
                let equal = Array(bytes[fixed.count..<fixed.count + range.equal.count])
                // An empty selection differs from none: its array exists, although nothing is read from it.
                let chosen = Array(bytes[(fixed.count + range.equal.count)...]) + [.empty]
                return equal.withUnsafeBufferPointer { equal in
                    chosen.withUnsafeBufferPointer { chosen in
                        var selection = bp_store_selection(
                            size: UInt32(MemoryLayout<bp_store_selection>.size), flags: flags(of: range),
                            collection: bytes[0], ids: ids == nil ? nil : chosen.baseAddress,
                            id_count: ids?.count ?? 0, index: bytes[1], equal: equal.baseAddress,
                            equal_count: equal.count, from: bytes[2], to: bytes[3], after: bytes[4],
                            limit: UInt64(max(0, limit)), conditions: conditions.baseAddress,
                            condition_count: conditions.count)
                        return body(&selection)
                    }
                }
            }
        }
    }

    /// Lends a search for the duration of `body`.
    func withC<Result>(
        of search: (index: String, words: String), _ body: (UnsafePointer<bp_store_search>) -> Result
    ) -> Result {
        conditions.withC { conditions in
            let texts = [collection, search.index, search.words].map { Array($0.utf8) }
            return Texts(texts + [after?.bytes ?? []]).withBytes { bytes in
                var lent = bp_store_search(
                    size: UInt32(MemoryLayout<bp_store_search>.size),
                    flags: isWithoutValues ? UInt32(BP_SELECT_WITHOUT_VALUES) : 0, collection: bytes[0],
                    index: bytes[1], text: bytes[2], limit: UInt64(max(0, limit)),
                    conditions: conditions.baseAddress, condition_count: conditions.count, after: bytes[3])
                return body(&lent)
            }
        }
    }

    private func flags(of range: Range) -> UInt32 {
        var flags = 0
        if isDescending { flags |= BP_SELECT_DESCENDING }
        if isWithoutValues { flags |= BP_SELECT_WITHOUT_VALUES }
        if !range.isFromIncluded { flags |= BP_SELECT_AFTER_FROM }
        if range.isToIncluded { flags |= BP_SELECT_THROUGH_TO }
        if range.isPrefix { flags |= BP_SELECT_PREFIX }
        return UInt32(flags)
    }
}

extension [RecordCondition] {
    /// Lends the conditions for the duration of `body`.
    fileprivate func withC<Result>(_ body: (UnsafeBufferPointer<bp_store_condition>) -> Result) -> Result {
        let parts = map(\.parts)
        return Texts(parts.flatMap { [[UInt8]($0.collection.utf8), [UInt8]($0.id.utf8)] }).withBytes { bytes in
            parts.enumerated().map { index, parts in
                bp_store_condition(
                    size: UInt32(MemoryLayout<bp_store_condition>.size), kind: parts.kind,
                    collection: bytes[2 * index], id: bytes[2 * index + 1], number: parts.number)
            }.withUnsafeBufferPointer(body)
        }
    }
}

extension RecordCondition {
    fileprivate var parts: (kind: UInt32, collection: String, id: String, number: Int64) {
        switch self {
        case .version(let collection, let id, let version): (UInt32(BP_STORE_IF_VERSION), collection, id, version)
        case .unchanged(let collection, let number): (UInt32(BP_STORE_IF_UNCHANGED), collection, "", number)
        }
    }
}

extension RecordBatch {
    /// Lends the batch for the duration of `body`.
    package func withC<Result>(_ body: (UnsafePointer<bp_store_batch>) -> Result) -> Result {
        changes.withC { changes in
            conditions.withC { conditions in
                var batch = bp_store_batch(
                    size: UInt32(MemoryLayout<bp_store_batch>.size), reserved: 0, changes: changes.baseAddress,
                    change_count: changes.count, conditions: conditions.baseAddress, condition_count: conditions.count)
                return body(&batch)
            }
        }
    }
}

extension CollectionDefinition {
    /// Lends the definition for the duration of `body`.
    package func withC<Result>(_ body: (UnsafePointer<bp_store_collection>) -> Result) -> Result {
        let texts = indexes.flatMap { index in
            [index.name, index.text?.tokenizer.rawValue ?? ""].map { Array($0.utf8) }
                + index.paths.map { Array($0.utf8) }
        }
        let lengths = indexes.flatMap { $0.text?.prefixes ?? [] }.map { UInt32(clamping: $0) }
        return Texts([Array(name.utf8)] + texts).withBytes { bytes in
            bytes.withUnsafeBufferPointer { lent in
                lengths.withUnsafeBufferPointer { lengths in
                    var place = 1, length = 0
                    return indexes.map { index in
                        let count = index.text?.prefixes.count ?? 0
                        defer { (place, length) = (place + 2 + index.paths.count, length + count) }
                        return bp_store_index(
                            size: UInt32(MemoryLayout<bp_store_index>.size), flags: index.flags, name: lent[place],
                            paths: lent.baseAddress! + place + 2, path_count: index.paths.count,
                            tokenizer: lent[place + 1],
                            prefixes: count == 0 ? nil : lengths.baseAddress! + length, prefix_count: count)
                    }.withUnsafeBufferPointer { indexes in
                        var collection = bp_store_collection(
                            size: UInt32(MemoryLayout<bp_store_collection>.size), reserved: 0, name: lent[0],
                            indexes: indexes.baseAddress, index_count: indexes.count)
                        return body(&collection)
                    }
                }
            }
        }
    }
}

extension IndexDefinition {
    fileprivate var flags: UInt32 {
        (isUnique ? UInt32(BP_INDEX_UNIQUE) : 0) | (text == nil ? 0 : UInt32(BP_INDEX_TEXT))
    }
}

extension ChangePage {
    /// Copies changes that the host lends.
    ///
    /// - Throws: `store.unusable` for an invalid array.
    package init(copying page: UnsafePointer<bp_store_changes>) throws(BackplaneError) {
        let lent: bp_store_changes = Backplane.read(page), logged: [bp_store_logged]
        do throws(BackplaneError) {
            logged = try Descriptors.read(
                lent.changes, count: lent.change_count, of: "the host's changes", limit: Descriptors.dataLimit)
        } catch {
            throw BackplaneError(.storeUnusable, error.message)
        }
        self.init(
            changes: logged.map { change in
                let id = change.id.text
                let record =
                    change.value.length == 0
                    ? nil : StoredRecord(id: id, value: change.value.array, version: change.number)
                return LoggedChange(
                    number: change.number, kind: LoggedChange.Kind(rawValue: Int(change.kind)) ?? .update, id: id,
                    record: record)
            },
            last: lent.last, hasMore: lent.flags & UInt32(BP_CHANGES_MORE) != 0,
            hasMissed: lent.flags & UInt32(BP_CHANGES_MISSED) != 0)
    }
}

extension RecordPage {
    /// Copies a borrowed page.
    ///
    /// - Throws: `store.unusable` for an invalid array.
    package init(copying page: UnsafePointer<bp_store_page>) throws(BackplaneError) {
        let lent: bp_store_page = Backplane.read(page)
        self.init(
            records: try StoredRecord.copy(lent.records, count: lent.record_count),
            next: lent.next.length == 0 ? nil : PageCursor(bytes: lent.next.array), change: lent.change,
            namespaceChange: lent.component_change)
    }
}

extension StoredRecord {
    fileprivate static func copy(_ records: UnsafePointer<bp_store_record>?, count: Int) throws(BackplaneError)
        -> [StoredRecord]
    {
        do throws(BackplaneError) {
            return try Descriptors.read(
                records, count: count, of: "the host's records", limit: Descriptors.dataLimit
            ).map { StoredRecord(id: $0.id.text, value: $0.value.array, version: $0.version) }
        } catch {
            throw BackplaneError(.storeUnusable, error.message)
        }
    }
}

extension [RecordChange] {
    /// Lends the changes for the duration of `body`.
    package func withC<Result>(_ body: (UnsafeBufferPointer<bp_store_change>) -> Result) -> Result {
        let lent = map(\.parts)
        return Texts(lent.flatMap { [[UInt8]($0.collection.utf8), [UInt8]($0.id.utf8), $0.value] }).withBytes { bytes in
            lent.enumerated().map { index, parts in
                bp_store_change(
                    size: UInt32(MemoryLayout<bp_store_change>.size), kind: parts.kind,
                    collection: bytes[3 * index], id: bytes[3 * index + 1], value: bytes[3 * index + 2])
            }.withUnsafeBufferPointer(body)
        }
    }

    /// Copies borrowed changes.
    ///
    /// - Throws: `call.invalid-input` for an unreasonable number of changes, or a change of unknown kind.
    package init(copying changes: UnsafePointer<bp_store_change>?, count: Int) throws(BackplaneError) {
        let lent: [bp_store_change]
        do throws(BackplaneError) {
            lent = try Descriptors.read(changes, count: count, of: "the changes", limit: Descriptors.dataLimit)
        } catch {
            throw BackplaneError(.callInvalidInput, error.message)
        }
        self = []
        for change in lent {
            let collection = change.collection.text
            switch Int(change.kind) {
            case Int(BP_STORE_SAVE):
                append(
                    .save(collection: collection, StoredRecord(id: change.id.text, value: change.value.array)))
            case Int(BP_STORE_DELETE): append(.delete(collection: collection, id: change.id.text))
            case Int(BP_STORE_DELETE_ALL): append(.deleteAll(collection: collection))
            default:
                throw BackplaneError(.callInvalidInput, "expected a change of kind 1, 2 or 3, found \(change.kind)")
            }
        }
    }
}

extension RecordChange {
    fileprivate var parts: (kind: UInt32, collection: String, id: String, value: [UInt8]) {
        switch self {
        case .save(let collection, let record): (UInt32(BP_STORE_SAVE), collection, record.id, record.value)
        case .delete(let collection, let id): (UInt32(BP_STORE_DELETE), collection, id, [])
        case .deleteAll(let collection): (UInt32(BP_STORE_DELETE_ALL), collection, "", [])
        }
    }
}

/// The byte strings that are lent across the boundary together.
package struct Texts {
    private let bytes: [UInt8]
    private let lengths: [Int]

    package init(_ texts: [[UInt8]]) {
        (bytes, lengths) = (texts.flatMap(\.self), texts.map(\.count))
    }

    /// Lends the byte strings for the duration of `body`.
    package func withBytes<Result>(_ body: ([bp_bytes]) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { buffer in
            var offset = 0
            return body(
                lengths.map { length in
                    defer { offset += length }
                    return bp_bytes(data: buffer.baseAddress.map { $0 + offset }, length: length)
                })
        }
    }
}
