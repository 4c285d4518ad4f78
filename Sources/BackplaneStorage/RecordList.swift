public import Backplane

/// A page of records that a collection returns.
public struct RecordList<R: Record>: Sendable {
    /// The records with their versions, in the order of the selection.
    public var versioned: [Versioned<R>]
    /// The records that cannot be decoded as an `R`, in the same order; the store keeps them unchanged.
    public var unreadable: [UnreadableRecord]
    /// The position at which the next page begins; `nil` after the last page.
    public var next: PageCursor?

    /// The decoded values, without their versions.
    public var records: [R] { versioned.map(\.record) }
}

/// A stored record that cannot be decoded as a value of its type.
public struct UnreadableRecord: Sendable {
    /// The id under which it is stored.
    public var id: String
    /// The stored JSON; empty if the stored bytes are damaged.
    public var json: [UInt8]
    /// The number of the change that stored the record.
    public var version: Int64
    /// The reason: `store.undecodable` or `store.damaged`.
    public var error: BackplaneError
}
