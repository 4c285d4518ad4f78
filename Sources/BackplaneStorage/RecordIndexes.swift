import Backplane

/// The indexes of a ``Record`` type: a struct whose stored properties are ``Indexed``, ``IndexedPair`` and
/// ``FullText``.
///
/// ```swift
/// struct Indexes: RecordIndexes {
///     let isbn = Indexed<String>("isbn", isUnique: true)
///     let author = IndexedPair<String, Int>("author.name", "year")
///     let words = FullText("title", "author.name", prefixes: [2, 3])
/// }
/// ```
///
/// When the collection is first used, a newly declared index is built from the stored records, and an index that is no
/// longer declared is deleted.
public protocol RecordIndexes: Sendable {
    /// Creates the declaration.
    init()
}

/// The indexes of records that are found only by their ids.
public struct NoIndexes: RecordIndexes {
    /// Creates the empty declaration.
    public init() {}
}

/// An index over one property.
///
/// Values are ordered as ``IndexedValue`` describes: a property that is missing or `nil` comes first.
public struct Indexed<Value: Sendable>: Sendable {
    // `Encodable` is required where values are used. If this type required it, Swift's runtime would search every
    // loaded image before it created one, each time a library is loaded.
    let declared: DeclaredIndex
}

extension Indexed where Value: Encodable {
    /// Declares the index.
    ///
    /// - Parameters:
    ///   - path: The property's name in JSON, or names separated by dots for a property of a property.
    ///   - isUnique: Whether a second record with the same value is refused; `nil` values never are. If stored records
    ///     share a value when uniqueness is added, an error is logged, and the index is not used until their values
    ///     differ.
    public init(_ path: String, isUnique: Bool = false) {
        declared = DeclaredIndex(paths: [path], isUnique: isUnique)
    }
}

/// An index over two properties, which sorts by the first and then by the second.
public struct IndexedPair<First: Sendable, Second: Sendable>: Sendable {
    let declared: DeclaredIndex
}

extension IndexedPair where First: Encodable, Second: Encodable {
    /// Declares the index.
    ///
    /// - Parameters:
    ///   - first: The JSON name, or path, of the property that sorts first.
    ///   - second: The JSON name, or path, of the property that sorts records with equal first values.
    ///   - isUnique: Whether a second record with the same two values is refused.
    public init(_ first: String, _ second: String, isUnique: Bool = false) {
        declared = DeclaredIndex(paths: [first, second], isUnique: isUnique)
    }
}

/// An index over the words of properties, which ``RecordCollection/search(_:_:limit:after:)`` searches.
///
/// A property that is a list is indexed with all strings in it: `authors.name` are the names of all authors.
public struct FullText: Sendable {
    let declared: DeclaredIndex

    /// Declares the index.
    ///
    /// - Parameters:
    ///   - paths: The properties' names in JSON, or names separated by dots for properties of properties.
    ///   - tokenizer: The tokenizer that divides texts into words.
    ///   - prefixes: The lengths, of 1 to 32 characters, of the word prefixes to index for faster searches.
    public init(_ paths: String..., tokenizer: TextTokenizer = .unicode, prefixes: [Int] = []) {
        declared = DeclaredIndex(
            paths: paths, isUnique: false, text: TextIndexing(tokenizer, prefixes: prefixes))
    }
}

/// The stored content of a declared index.
struct DeclaredIndex: Sendable {
    let paths: [String]
    let isUnique: Bool
    var text: TextIndexing?

    /// The name in the store, which differs for an index over other properties.
    var name: String {
        let names = paths.joined(separator: ",")
        return text == nil ? names : "text(\(names))"
    }
}

extension Record {
    /// The definition of the collection's indexes.
    ///
    /// - Throws: `call.invalid-input` if a property of `Indexes` is not an index.
    static var definition: CollectionDefinition {
        get throws(BackplaneError) {
            var definition = CollectionDefinition(collection)
            for property in Mirror(reflecting: Indexes()).children {
                // A cast to a protocol would make the runtime search every loaded image.
                guard let index = Mirror(reflecting: property.value).children.first?.value as? DeclaredIndex else {
                    throw BackplaneError(
                        .callInvalidInput,
                        "`\(property.label ?? "?")` is not an Indexed, an IndexedPair or a FullText; the indexes of a record have no other stored properties",
                        at: collection)
                }
                definition.indexes.append(
                    IndexDefinition(
                        paths: index.paths, name: index.name, isUnique: index.isUnique, text: index.text))
            }
            if schema > 1 { definition.indexes.append(IndexDefinition(StoredForm.schemaKey)) }
            return definition
        }
    }
}
