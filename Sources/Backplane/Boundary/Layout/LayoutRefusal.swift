/// The reason why the values of a type cannot cross unencoded, as the end of a sentence.
package struct LayoutRefusal: Error {
    /// The type whose layout was requested.
    var root: String
    /// The position of the obstacle in the type; empty outside every field.
    var place: LayoutPath
    /// The type at this position, and the obstacle, such as "a class".
    var type: String
    var reason: String

    /// The reason after a verb: "`find` answers" "`Book`, where `Book.cover` is `Cover`, a class".
    package var object: String {
        let found = "`\(type)`, \(reason)"
        if !place.names.isEmpty { return "`\(root)`, where \(sentence)" }
        return place.isContained ? "`\(root)`, which contains \(found)" : found
    }

    private var sentence: String {
        "`\(place.text)` \(place.isContained ? "contains" : "is") `\(type)`, \(reason)"
    }
}

extension LayoutRefusal: CustomStringConvertible {
    /// The reason as a sentence of its own: "`Book.cover` is `Cover`, a class".
    package var description: String {
        if !place.names.isEmpty { return sentence }
        return place.isContained ? "`\(root)` contains `\(type)`, \(reason)" : "`\(type)` is \(reason)"
    }
}

/// A path into a type: the outermost declared type, followed by fields, cases and elements.
package struct LayoutPath: Sendable {
    package private(set) var names: [String] = []
    /// A Boolean value that indicates whether the path ends in a generic argument, such as an array's element.
    package private(set) var isContained = false

    package init() {}

    private init(names: [String], isContained: Bool = false) {
        (self.names, self.isContained) = (names, isContained)
    }

    /// The path as text, cut off after eight names.
    package var text: String {
        names.prefix(8).joined(separator: ".") + (names.count > 8 ? "…" : "")
    }

    package func inside(_ declared: @autoclosure () -> String) -> LayoutPath {
        names.isEmpty ? LayoutPath(names: [declared()]) : self
    }

    package func member(_ name: String) -> LayoutPath {
        LayoutPath(names: names + [name])
    }

    package var argument: LayoutPath {
        LayoutPath(names: names, isContained: true)
    }
}
