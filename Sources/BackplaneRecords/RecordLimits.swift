package import Backplane
package import BackplaneStorage

/// The limits of a store's input and output, the same in every engine.
package enum RecordLimits {
    /// The maximum length of an id, in bytes.
    package static let id = 1 << 20
    /// The maximum length of a value, in bytes.
    package static let value = 64 << 20
    /// The maximum length of a namespace's, a collection's or an index's name, in bytes.
    package static let name = 1_024
    /// The maximum number of indexes of a collection, and of properties of an index.
    package static let indexes = 64
    /// The maximum prefix length of a full-text index, and the maximum number of such lengths.
    package static let prefix = 32, prefixes = 8
    /// The maximum length of a search text, in bytes.
    package static let search = 4_096
    /// The maximum number of records or changes on a page.
    package static let page = 10_000
    /// The number of bytes of values after which a page ends.
    package static let pageBytes = 16 << 20
    /// The minimum number of changes that a log retains.
    package static let log = 100_000
    /// The number of changes by which a log grows before it is truncated.
    package static let logSurplus = 1_024

    /// Checks a name, which must not be empty or contain a zero byte.
    ///
    /// - Throws: `call.invalid-input`.
    package static func check(name: String, _ what: String) throws(BackplaneError) {
        try require(
            !name.isEmpty && name.utf8.count <= Self.name && !name.utf8.contains(0),
            "expected \(what) of 1 to \(Self.name) bytes without a zero byte, found \(shortened(name))")
    }

    /// Checks the names, ids and values of a batch.
    ///
    /// - Throws: `call.invalid-input`.
    package static func check(_ batch: RecordBatch) throws(BackplaneError) {
        for change in batch.changes {
            try check(name: change.collection, "a collection's name")
            guard case .save(let collection, let record) = change else { continue }
            try require(
                (1...id).contains(record.id.utf8.count),
                "expected an id of 1 to \(id) bytes, found \(record.id.utf8.count) bytes", at: collection)
            try require(
                record.value.count <= value,
                "expected a record of at most \(value) bytes, found \(record.value.count) bytes; keep large "
                    + "content in a file of the component's folder", at: "\(collection)/\(shortened(record.id))")
        }
    }

    /// Checks the names and key paths of a definition.
    ///
    /// - Throws: `call.invalid-input`.
    package static func check(_ definition: CollectionDefinition) throws(BackplaneError) {
        try check(name: definition.name, "a collection's name")
        try require(
            definition.indexes.count <= indexes,
            "expected at most \(indexes) indexes, found \(definition.indexes.count)", at: definition.name)
        var names: Set<[UInt8]> = []
        for index in definition.indexes {
            let place = "\(definition.name)/\(index.name)"
            try check(name: index.name, "an index's name")
            try require(
                names.insert(Array(index.name.utf8)).inserted,
                "the index `\(index.name)` is declared twice; give one of them another name", at: definition.name)
            try require(
                (1...indexes).contains(index.paths.count),
                "expected 1 to \(indexes) key paths, found \(index.paths.count)", at: place)
            if let text = index.text {
                try require(!index.isUnique, "a full-text index cannot be unique", at: place)
                try require(
                    text.prefixes.count <= prefixes && text.prefixes.allSatisfy { (1...prefix).contains($0) },
                    "expected at most \(prefixes) prefix lengths of 1 to \(prefix), found \(text.prefixes)", at: place)
            }
            for path in index.paths {
                try check(name: path, "a key path")
                try require(
                    !path.split(separator: ".", omittingEmptySubsequences: false).contains(""),
                    "expected names separated by single dots, found the key path `\(path)`", at: place)
            }
        }
    }

    private static func require(
        _ condition: Bool, _ message: @autoclosure () -> String, at place: @autoclosure () -> String? = nil
    ) throws(BackplaneError) {
        guard condition else { throw BackplaneError(.callInvalidInput, message(), at: place()) }
    }

    /// Returns a string shortened for a message.
    package static func shortened(_ text: String) -> String {
        text.unicodeScalars.count <= 100 ? text.debugDescription : String(text.prefix(100)).debugDescription + "…"
    }
}

extension RecordChange {
    /// The collection that the change concerns.
    package var collection: String {
        switch self {
        case .save(let collection, _), .delete(let collection, _), .deleteAll(let collection): collection
        }
    }
}

extension BackplaneError {
    /// Returns the error for a condition that fails because a record has another version; 0 means that there is no
    /// record.
    package static func conflict(_ collection: String, _ id: String, expected: Int64, found: Int64) -> BackplaneError {
        func text(_ version: Int64) -> String { version == 0 ? "no record" : "version \(version)" }
        return BackplaneError(
            .storeConflict, "expected \(text(expected)), found \(text(found)); read it again, and repeat the change",
            at: "\(collection)/\(RecordLimits.shortened(id))")
    }

    /// Returns the error for a condition that fails because a collection has changed.
    package static func conflict(_ collection: String, since number: Int64, found: Int64) -> BackplaneError {
        BackplaneError(
            .storeConflict,
            "expected no change after number \(number), found number \(found); read it again, and repeat the change",
            at: collection)
    }

    /// Returns the error for two records with the same values in a unique index.
    package static func duplicate(_ collection: String, index: String, _ id: String, _ other: String) -> BackplaneError
    {
        BackplaneError(
            .storeDuplicate,
            "the index `\(index)` is unique, and the record \(RecordLimits.shortened(other)) has the same values",
            at: "\(collection)/\(RecordLimits.shortened(id))")
    }

    /// Returns the error for an index that a collection does not have.
    package static func unindexed(_ collection: String, _ index: String, known: [String]) -> BackplaneError {
        let names = known.isEmpty ? "none" : known.sorted().map { "`\($0)`" }.joined(separator: ", ")
        return BackplaneError(
            .storeUnindexed, "there is no index `\(index)`; the indexes of the collection: \(names)", at: collection)
    }
}
