/// The indexes of a collection, which are declared with the type of its records.
public struct CollectionDefinition: Sendable {
    /// The name, unique in the component's part of the store.
    public var name: String
    /// The indexes, whose names must be unique.
    public var indexes: [IndexDefinition]

    /// Creates the definition of a collection that has exactly these indexes.
    public init(_ name: String, indexes: [IndexDefinition] = []) { (self.name, self.indexes) = (name, indexes) }
}

/// The definition of an index over properties of a collection's records.
///
/// A store reads the properties from a record's JSON. Numbers, strings, Booleans and `null` are indexed; a property
/// that is missing, a list or a dictionary counts as `null`. Values are ordered as ``IndexedValue`` describes.
public struct IndexDefinition: Sendable {
    /// The name by which queries choose the index.
    public var name: String
    /// The key paths of the properties, such as `title` or `author.name`; the first one sorts first.
    public var paths: [String]
    /// A Boolean value that indicates whether two records with the same values are refused.
    ///
    /// Records with `null` among the values are never refused.
    public var isUnique: Bool
    /// The full-text settings; `nil` for an index of values.
    public var text: TextIndexing?

    /// Creates an index over one key path, or over several in their order.
    ///
    /// - Parameters:
    ///   - paths: The key paths.
    ///   - name: The name; by default the key paths, separated by commas.
    ///   - isUnique: A Boolean value that indicates whether records must not have the same values.
    public init(_ paths: String..., name: String? = nil, isUnique: Bool = false) {
        self.init(paths: paths, name: name, isUnique: isUnique)
    }

    /// Creates an index over properties whose number is not known in advance.
    public init(paths: [String], name: String? = nil, isUnique: Bool = false, text: TextIndexing? = nil) {
        (self.paths, self.isUnique, self.text) = (paths, isUnique, text)
        self.name = name ?? paths.joined(separator: ",")
    }
}
