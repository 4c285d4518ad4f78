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
    let declared: IndexDefinition
}

extension Indexed where Value: Encodable {
    /// Declares the index.
    ///
    /// - Parameters:
    ///   - path: The property's name in JSON, or names separated by dots for a property of a property.
    ///   - isUnique: Whether a second record with the same value is refused; `nil` values are never refused. If stored
    ///     records share a value when uniqueness is added, an error is logged, and the index is not used until their
    ///     values differ.
    public init(_ path: String, isUnique: Bool = false) {
        declared = IndexDefinition(path, isUnique: isUnique)
    }
}

/// An index over two properties, which sorts by the first and then by the second.
public struct IndexedPair<First: Sendable, Second: Sendable>: Sendable {
    let declared: IndexDefinition
}

extension IndexedPair where First: Encodable, Second: Encodable {
    /// Declares the index.
    ///
    /// - Parameters:
    ///   - first: The JSON name, or path, of the property that sorts first.
    ///   - second: The JSON name, or path, of the property that sorts records with equal first values.
    ///   - isUnique: Whether a second record with the same two values is refused.
    public init(_ first: String, _ second: String, isUnique: Bool = false) {
        declared = IndexDefinition(first, second, isUnique: isUnique)
    }
}

/// An index over the words of properties, which ``RecordCollection/search(_:_:limit:after:)`` searches.
///
/// A property that is a list is indexed with all strings in it: `authors.name` are the names of all authors.
public struct FullText: Sendable {
    let declared: IndexDefinition

    /// Declares the index.
    ///
    /// - Parameters:
    ///   - paths: The properties' names in JSON, or names separated by dots for properties of properties.
    ///   - tokenizer: The tokenizer that divides texts into words.
    ///   - prefixes: The lengths, of 1 to 32 characters, of the word prefixes to index for faster searches.
    public init(_ paths: String..., tokenizer: TextTokenizer = .unicode, prefixes: [Int] = []) {
        // Differs from the name of an index of the same properties' values.
        declared = IndexDefinition(
            paths: paths, name: "text(\(paths.joined(separator: ",")))",
            text: TextIndexing(tokenizer, prefixes: prefixes))
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
                guard let index = Mirror(reflecting: property.value).children.first?.value as? IndexDefinition else {
                    throw BackplaneError(
                        .callInvalidInput,
                        "`\(property.label ?? "?")` is not an Indexed, an IndexedPair or a FullText; the indexes of a record have no other stored properties",
                        at: collection)
                }
                definition.indexes.append(index)
            }
            if schema > 1 { definition.indexes.append(IndexDefinition(StoredForm.schemaKey)) }
            return definition
        }
    }
}

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

/// The value of an indexed property.
///
/// Every store orders values in the same way: `null`, `false`, `true`, numbers by value, strings by their UTF-8 bytes.
/// An integer equals the number of the same value, so `1` and `1.0` are one value.
public enum IndexedValue: Sendable {
    /// No value.
    case null
    /// Either `true` or `false`.
    case boolean(Bool)
    /// An integer, compared exactly.
    case integer(Int64)
    /// A number as JSON writes it, compared exactly.
    case decimal(String)
    /// A number that is compared in its shortest decimal form, as JSON writes it.
    case number(Double)
    /// A string, ordered by its UTF-8 bytes.
    case text(String)
}

extension IndexedValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// Creates a string, for example in a condition such as `== "Melville"`.
    public init(stringLiteral text: String) { self = .text(text) }
    /// Creates an integer, for example in a condition such as `>= 1851`.
    public init(integerLiteral integer: Int64) { self = .integer(integer) }
    /// Creates a number.
    public init(floatLiteral number: Double) { self = .number(number) }
    /// Creates `true` or `false`, for example in a condition on a flag.
    public init(booleanLiteral boolean: Bool) { self = .boolean(boolean) }
}

/// The full-text settings of an index.
public struct TextIndexing: Sendable {
    /// The division of texts into words.
    public var tokenizer: TextTokenizer
    /// The prefix lengths to index; searches for other prefixes read more of the index.
    public var prefixes: [Int]

    /// Creates full-text settings, by default without indexed prefixes.
    public init(_ tokenizer: TextTokenizer = .unicode, prefixes: [Int] = []) {
        (self.tokenizer, self.prefixes) = (tokenizer, prefixes)
    }
}

/// The division of texts into words.
public enum TextTokenizer: String, Sendable {
    /// Words of letters and digits as Unicode defines them, regardless of case and of diacritics.
    case unicode
    /// English words, which other forms of the same word also match: `whale` finds `whales` and `whaling`.
    case english
    /// All substrings, regardless of case; substrings of one or two characters are found by reading the texts.
    case substrings
}
