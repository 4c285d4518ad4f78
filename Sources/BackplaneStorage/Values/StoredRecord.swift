/// A record in its stored form.
public struct StoredRecord: Sendable {
    /// The key of the record in its collection.
    public var id: String
    /// The record in JSON.
    public var value: [UInt8]
    /// The number of the change that wrote the record; 0 for one that a store has not written yet.
    ///
    /// A later write of the same id always has a greater version, even after the record was deleted.
    public var version: Int64

    /// Creates a record in its stored form.
    public init(id: String, value: [UInt8], version: Int64 = 0) {
        (self.id, self.value, self.version) = (id, value, version)
    }
}
