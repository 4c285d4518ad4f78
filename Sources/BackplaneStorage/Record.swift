/// A value that a store keeps as JSON, under an id in a collection.
///
/// ```swift
/// struct Book: Record {
///     var id: String
///     var title: String
/// }
/// ```
public protocol Record: Codable, Sendable {
    /// The unique id of the record in its collection.
    ///
    /// It must not be empty.
    var id: String { get }
    /// The name of the collection that contains the record. Default: the type's name.
    ///
    /// Records that were stored under another name are no longer found.
    static var collection: String { get }
}

extension Record {
    /// The type's name.
    public static var collection: String { String(describing: Self.self) }
}
