/// A value that a store keeps: JSON under an id, in a collection of its own.
///
/// ```swift
/// struct Book: Record {
///     var id: String
///     var title: String
/// }
/// ```
public protocol Record: Codable, Sendable {
    /// Tells it from the other records of its collection; not empty.
    var id: String { get }
    /// The collection it is kept in. Default: the type's name. Changing it loses sight of what was kept.
    static var collection: String { get }
}

extension Record {
    public static var collection: String { String(describing: Self.self) }
}
