/// A name as Swift writes the member it becomes.
package struct SwiftIdentifier: Sendable, Hashable {
    /// Without backticks.
    package let text: String

    /// Words in lower camel case: `LibraryManager` is `libraryManager`, `HTTP cache` is `httpCache`; what cannot stand in an identifier
    /// separates words. `nil`: nothing is left.
    package init?(camelCasing name: String) {
        let words = name.split { !$0.standsInIdentifier }
        guard let first = words.first else { return nil }
        var text = first.loweringStart + words.dropFirst().map(\.raisingStart).joined()
        guard text.contains(where: { $0 != "_" }), let start = text.unicodeScalars.first else { return nil }
        if !start.properties.isXIDStart, start != "_" { text = "_" + text }
        self.text = text
    }

    private init(text: String) { self.text = text }

    /// Without what every manager's name ends in; `nil`: it does not, or nothing else is left.
    package var withoutManager: SwiftIdentifier? {
        guard text.hasSuffix("Manager"), text.count > "Manager".count else { return nil }
        return SwiftIdentifier(text: String(text.dropLast("Manager".count)))
    }

    package func numbered(_ number: Int) -> SwiftIdentifier {
        SwiftIdentifier(text: "\(text)\(number)")
    }

    /// In backticks if it is a keyword.
    package var spelled: String { Self.keywords.contains(text) ? "`\(text)`" : text }

    /// Whether a member of this name could only be written in backticks after a dot too.
    package var isTaken: Bool { text == "init" || text == "self" }

    /// Those that cannot be used as they are, from *The Swift Programming Language*, Lexical Structure.
    private static let keywords: Set<String> = [
        "associatedtype", "borrowing", "class", "consuming", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout", "internal", "let",
        "nonisolated", "open", "operator", "precedencegroup", "private", "protocol", "public", "rethrows", "static", "struct", "subscript", "typealias", "var",
        "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough", "for", "guard", "if", "in", "repeat", "return", "switch",
        "throw", "where", "while", "any", "as", "await", "false", "is", "nil", "self", "super", "throws", "true", "try",
    ]
}

extension SwiftIdentifier {
    /// Whether a text is a type's name as Swift source may have it: identifiers with dots between them.
    package static func isTypeName(_ text: String) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            part.allSatisfy(\.standsInIdentifier) && part.first.map { !$0.isNumber } ?? false && !keywords.contains(String(part))
        }
    }
}

extension Character {
    fileprivate var standsInIdentifier: Bool {
        unicodeScalars.allSatisfy { $0.properties.isXIDContinue }
    }
}

extension Substring {
    /// Begun in lower case; of capitals in a row all but the one that begins the next word.
    fileprivate var loweringStart: String {
        let capitals = prefix { $0.isUppercase }
        let count = capitals.count > 1 && capitals.count < self.count && self[capitals.endIndex].isLowercase ? capitals.count - 1 : capitals.count
        return prefix(count).lowercased() + dropFirst(count)
    }

    fileprivate var raisingStart: String {
        prefix(1).uppercased() + dropFirst()
    }
}
