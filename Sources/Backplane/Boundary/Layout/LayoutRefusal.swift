/// Why the values of a type cannot be handed over as they are, as the end of a sentence.
package struct LayoutRefusal: Error {
    /// The type that was asked about.
    var root: String
    /// Where in it; empty: outside of every field.
    var place: LayoutPath
    /// The type found there, and what is wrong with it: "a class".
    var type: String
    var reason: String

    /// After a verb: "`find` answers" "`Book`, where `Book.cover` is `Cover`, a class".
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
    /// On its own: "`Book.cover` is `Cover`, a class".
    package var description: String {
        if !place.names.isEmpty { return sentence }
        return place.isContained ? "`\(root)` contains `\(type)`, \(reason)" : "`\(type)` is \(reason)"
    }
}

/// A way into a type: the outermost declared type, and then the fields, cases and elements passed.
package struct LayoutPath: Sendable {
    package private(set) var names: [String] = []
    /// Whether it ends within a generic argument: an element rather than the array.
    package private(set) var isContained = false

    package init() {}

    private init(names: [String], isContained: Bool = false) {
        (self.names, self.isContained) = (names, isContained)
    }

    /// A path that nobody wants to read to its end is cut.
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
