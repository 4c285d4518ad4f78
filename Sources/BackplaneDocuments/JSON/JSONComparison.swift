package import FoundationEssentials

/// The result of comparing two JSON documents, regardless of the order of an object's keys.
package enum JSONComparison: Sendable, Hashable {
    /// The documents have the same values.
    case equal
    /// The documents differ only in the order of the elements of arrays, such as those that encode a `Set`.
    case reordered
    /// The documents have different values, or one of them is not JSON.
    case different

    /// Compares two documents.
    ///
    /// This parses both documents, and sorts every array if they differ.
    package init(_ a: Data, _ b: Data) {
        if a == b {
            self = .equal
        } else if let a = try? JSONValue(parsing: a), let b = try? JSONValue(parsing: b) {
            self = a == b ? .equal : a.sortingArrays == b.sortingArrays ? .reordered : .different
        } else {
            self = .different
        }
    }
}

extension JSONValue {
    /// The value with the elements of every array sorted by their text.
    fileprivate var sortingArrays: JSONValue {
        switch self {
        case .null, .bool, .integer, .number, .string: self
        case .array(let elements):
            .array(
                elements.map { element in
                    let sorted = element.sortingArrays
                    return (value: sorted, text: sorted.json)
                }
                .sorted { $0.text.lexicographicallyPrecedes($1.text) }.map(\.value))
        case .object(let members): .object(members.mapValues(\.sortingArrays))
        }
    }
}
