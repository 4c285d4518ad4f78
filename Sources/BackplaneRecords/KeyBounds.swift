package import Backplane
package import BackplaneStorage

/// A range of keys, and the position in it at which a page begins.
package struct KeyBounds {
    /// The first key.
    package var lower: [UInt8]
    /// The key after the last one.
    package var upper: [UInt8]
    /// The position of the last entry of the previous page, or a position before the first or after the last entry.
    package var start: (key: [UInt8], id: [UInt8])

    /// Returns the bounds of a query over an index.
    ///
    /// - Parameter properties: The number of the index's properties.
    /// - Throws: `call.invalid-input` if the range or the cursor does not fit the index.
    package init(_ range: RecordRange, properties: Int, _ query: RecordQuery) throws(BackplaneError) {
        let used = range.equal.count + (range.bounds == nil ? 0 : 1)
        guard used <= properties else {
            throw BackplaneError(
                .callInvalidInput,
                "expected at most \(properties) values for the index `\(range.index ?? "")`, found \(used)",
                at: query.collection)
        }
        let prefix = IndexKey.bytes(of: range.equal)
        (lower, upper) = (prefix, prefix + [IndexKey.end])
        switch range.bounds {
        case nil: break
        case .prefix(let text):
            IndexKey.append(textPrefix: text, to: &lower)
            upper = lower + [IndexKey.end]
        case .limits(let from, let isFromIncluded, let to, let isToIncluded):
            let kinds = try Self.kinds(from, to, query)
            lower.append(kinds.first)
            upper = prefix + [kinds.end]
            if let from { lower = prefix + IndexKey.bytes(of: [from]) + (isFromIncluded ? [] : [IndexKey.end]) }
            if let to { upper = prefix + IndexKey.bytes(of: [to]) + (isToIncluded ? [IndexKey.end] : []) }
        }
        if upper.precedes(lower) { upper = lower }
        start = (query.isDescending ? upper : lower, [])
        guard let cursor = query.after else { return }
        guard let (key, id) = cursor.indexPlace, !key.precedes(lower), key.precedes(upper) else {
            throw .foreignCursor(query)
        }
        start = (key, id)
    }

    /// Returns the bounds of a query over the ids of a collection, whose keys are the bytes of the ids.
    ///
    /// - Throws: `call.invalid-input` if the range or the cursor does not fit.
    package init(ofIDs range: RecordRange, _ query: RecordQuery) throws(BackplaneError) {
        func bytes(_ value: IndexedValue) throws(BackplaneError) -> [UInt8] {
            guard case .text(let text) = value else {
                throw BackplaneError(
                    .callInvalidInput, "expected a string as the id, found another value", at: query.collection)
            }
            return Array(text.utf8)
        }
        (lower, upper) = ([], [IndexKey.end])
        guard range.equal.count + (range.bounds == nil ? 0 : 1) <= 1 else {
            throw BackplaneError(.callInvalidInput, "expected at most one value for the id", at: query.collection)
        }
        if let id = range.equal.first { (lower, upper) = (try bytes(id), try bytes(id) + [0]) }
        switch range.bounds {
        case nil: break
        case .prefix(let text): (lower, upper) = (Array(text.utf8), Array(text.utf8) + [IndexKey.end])
        case .limits(let from, let isFromIncluded, let to, let isToIncluded):
            if let from { lower = try bytes(from) + (isFromIncluded ? [] : [0]) }
            if let to { upper = try bytes(to) + (isToIncluded ? [0] : []) }
        }
        if upper.precedes(lower) { upper = lower }
        // An id that equals the lower bound belongs to the range, and no id is empty.
        start = query.isDescending ? (upper, upper) : (lower, [])
        guard let cursor = query.after else { return }
        guard let id = cursor.idPlace, !id.precedes(lower), id.precedes(upper) else { throw .foreignCursor(query) }
        start = (id, id)
    }

    private static func kinds(_ from: IndexedValue?, _ to: IndexedValue?, _ query: RecordQuery) throws(BackplaneError)
        -> (
            first: UInt8, end: UInt8
        )
    {
        let kinds = [from, to].compactMap { $0.map { IndexKey.kinds(like: $0) } }
        guard let first = kinds.first else {
            throw BackplaneError(.callInvalidInput, "expected at least one bound of the range", at: query.collection)
        }
        guard kinds.allSatisfy({ $0 == first }) else {
            throw BackplaneError(
                .callInvalidInput, "expected bounds of the same type, found values of two types",
                at: query.collection)
        }
        return first
    }
}

extension PageCursor {
    /// Creates the cursor for a position in an index.
    package init(key: [UInt8], id: [UInt8]) {
        let length = UInt32(key.count)
        self.init(bytes: [1] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + key + id)
    }

    /// Creates the cursor for a position in the order of ids.
    package init(id: [UInt8]) { self.init(bytes: [0] + id) }

    var indexPlace: (key: [UInt8], id: [UInt8])? {
        guard bytes.count > 5, bytes[0] == 1 else { return nil }
        let length = bytes[1..<5].reduce(0) { $0 << 8 | Int($1) }
        guard length <= bytes.count - 5 else { return nil }
        return (Array(bytes[5..<5 + length]), Array(bytes[(5 + length)...]))
    }

    package var idPlace: [UInt8]? { bytes.first == 0 ? Array(bytes.dropFirst()) : nil }

    /// Creates the cursor for a position in the result of a search.
    ///
    /// - Parameters:
    ///   - rank: The relevance of the last record.
    ///   - number: Its position among the records of the same relevance.
    package init(rank: Double, number: Int64) {
        let words = [rank.bitPattern, UInt64(bitPattern: number)]
        self.init(
            bytes: [2] + words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } })
    }

    package var searchPlace: (rank: Double, number: Int64)? {
        guard bytes.count == 17, bytes[0] == 2 else { return nil }
        let words = [1, 9].map { bytes[$0..<$0 + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        let rank = Double(bitPattern: words[0])
        return rank.isFinite ? (rank, Int64(bitPattern: words[1])) : nil
    }
}

extension BackplaneError {
    package static func foreignCursor(_ query: RecordQuery) -> BackplaneError {
        BackplaneError(
            .callInvalidInput, "the cursor does not belong to this query; begin with the first page",
            at: query.collection)
    }
}

extension [UInt8] {
    /// Returns whether the bytes come before others.
    package func precedes(_ other: [UInt8]) -> Bool { lexicographicallyPrecedes(other) }
}
