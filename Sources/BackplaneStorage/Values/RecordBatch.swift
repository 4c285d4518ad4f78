/// The changes that a store makes together, in order, if all conditions hold; otherwise it changes nothing.
public struct RecordBatch: Sendable {
    /// The conditions that must hold before the first change; the changes of the batch itself do not affect them.
    public var conditions: [RecordCondition]
    /// The changes, which may concern several collections.
    public var changes: [RecordChange]

    /// Creates a batch that is applied only if all conditions hold.
    public init(_ changes: [RecordChange], if conditions: [RecordCondition] = []) {
        (self.changes, self.conditions) = (changes, conditions)
    }
}

/// A change of one collection.
public enum RecordChange: Sendable {
    /// Stores a record and replaces the one with the same id, regardless of the version in `StoredRecord`.
    case save(collection: String, StoredRecord)
    /// Deletes the record with an id, if there is one.
    case delete(collection: String, id: String)
    /// Empties a collection.
    case deleteAll(collection: String)
}

/// A requirement on the content of a store.
public enum RecordCondition: Sendable {
    /// The record with an id has a version; 0 requires that there is none.
    case version(collection: String, id: String, Int64)
    /// Nothing in a collection has changed since a change number.
    case unchanged(collection: String, since: Int64)
}
