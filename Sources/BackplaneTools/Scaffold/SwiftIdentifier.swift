/// An identifier for a Swift member, derived from a name.
package struct SwiftIdentifier: Sendable, Hashable {
    /// The identifier without backticks.
    package let text: String

    /// Creates an identifier in lower camel case; returns `nil` if the name has no usable character.
    ///
    /// `LibraryManager` becomes `libraryManager`, and `HTTP cache` becomes `httpCache`. Characters that are not allowed
    /// in identifiers separate words.
    package init?(camelCasing name: String) {
        let words = name.split { !$0.standsInIdentifier }
        guard let first = words.first else { return nil }
        var text = first.loweringStart + words.dropFirst().map(\.raisingStart).joined()
        guard text.contains(where: { $0 != "_" }), let start = text.unicodeScalars.first else { return nil }
        if !start.properties.isXIDStart, start != "_" { text = "_" + text }
        self.text = text
    }

    private init(text: String) { self.text = text }

    /// The identifier without the suffix `Manager`, or `nil` if it has no such suffix or nothing else.
    package var withoutManager: SwiftIdentifier? {
        guard text.hasSuffix("Manager"), text.count > "Manager".count else { return nil }
        return SwiftIdentifier(text: String(text.dropLast("Manager".count)))
    }

    package func numbered(_ number: Int) -> SwiftIdentifier {
        SwiftIdentifier(text: "\(text)\(number)")
    }

    /// The identifier, in backticks if it is a keyword.
    package var spelled: String { Self.keywords.contains(text) ? "`\(text)`" : text }

    /// A Boolean value that indicates whether a member of this name would need backticks even after a dot.
    package var isTaken: Bool { text == "init" || text == "self" }

    /// The reserved words, from *The Swift Programming Language*, Lexical Structure.
    private static let keywords: Set<String> = [
        "associatedtype", "borrowing", "class", "consuming", "deinit", "enum", "extension", "fileprivate", "func",
        "import", "init", "inout", "internal", "let",
        "nonisolated", "open", "operator", "precedencegroup", "private", "protocol", "public", "rethrows", "static",
        "struct", "subscript", "typealias", "var",
        "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough", "for", "guard", "if",
        "in", "repeat", "return", "switch",
        "throw", "where", "while", "any", "as", "await", "false", "is", "nil", "self", "super", "throws", "true", "try",
    ]
}

extension SwiftIdentifier {
    /// Returns whether a string is a valid type name: identifiers separated by dots.
    package static func isTypeName(_ text: String) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            part.allSatisfy(\.standsInIdentifier) && part.first.map { !$0.isNumber } ?? false
                && !keywords.contains(String(part))
        }
    }
}

extension Character {
    fileprivate var standsInIdentifier: Bool {
        unicodeScalars.allSatisfy { $0.properties.isXIDContinue }
    }
}

extension Substring {
    /// The word with its leading capitals in lower case, except for the one that begins the next word.
    fileprivate var loweringStart: String {
        let capitals = prefix { $0.isUppercase }
        let count =
            capitals.count > 1 && capitals.count < self.count && self[capitals.endIndex].isLowercase
            ? capitals.count - 1 : capitals.count
        return prefix(count).lowercased() + dropFirst(count)
    }

    fileprivate var raisingStart: String {
        prefix(1).uppercased() + dropFirst()
    }
}
