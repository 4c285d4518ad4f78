import Backplane
import BackplaneHost

/// The upper camel case name of a new item, from which the names of types, targets and files are derived.
struct NewName: Sendable, Hashable {
    let text: String
    /// The folder that precedes the name in the argument, or `nil` for the current folder.
    let folder: String?

    /// Creates a name from a command-line argument.
    ///
    /// - Parameter inFolder: A Boolean value that indicates whether a path may precede the name.
    /// - Throws: `new.name`, with a valid name as a suggestion if possible.
    init(_ given: String, inFolder: Bool = false) throws(BackplaneError) {
        let path = given.hasSuffix("/") && given.count > 1 ? String(given.dropLast()) : given
        let name = inFolder ? FilePath.name(of: path) : path
        folder = inFolder && path.contains("/") ? FilePath.folder(of: path) : nil
        text = name
        if let reason = Self.refusal(of: name) { throw Self.unusable(name, reason, folder) }
    }

    /// Creates a name that is known to be valid.
    private init(checked text: String) { (self.text, folder) = (text, nil) }

    func followed(by word: String) -> NewName { NewName(checked: text + word) }

    /// The name in kebab case.
    ///
    /// `TideTable` becomes `tide-table`, `HTTPCache` becomes `http-cache`, and `BooksAPIv2` becomes `books-api-v2`.
    var kebab: String {
        text.replacing(/([a-z0-9])([A-Z])/) { "\($0.output.1)-\($0.output.2)" }
            .replacing(/([A-Z])(v[0-9])/) { "\($0.output.1)-\($0.output.2)" }
            .replacing(/([A-Z])([A-Z][a-z])/) { "\($0.output.1)-\($0.output.2)" }
            .lowercased()
    }

    private static func unusable(_ name: String, _ reason: String, _ folder: String?) -> BackplaneError {
        let better = suggestion(for: name).map { "; `\(folder.map { "\($0)/" } ?? "")\($0)` would be valid" } ?? ""
        return BackplaneError(
            .newName,
            "expected the name of a Swift type in upper camel case, such as TideTable, found `\(name)`: \(reason)\(better)"
        )
    }
}

extension NewName {
    /// Returns the reason why a name is not valid, or `nil` if it is.
    static func refusal(of name: String) -> String? {
        guard let first = name.unicodeScalars.first else { return "it is empty" }
        if name.contains("/") { return "a path can be given only for a package, an app or a definition" }
        if !name.unicodeScalars.allSatisfy(\.isASCIILetterOrDigit) {
            return "it contains characters other than letters from A to Z and digits"
        }
        if !first.properties.isUppercase { return "it does not begin with a capital letter" }
        if name.count > longest { return "it has more than \(longest) characters" }
        if let ending = endings.first(where: { name.hasSuffix($0) && name != $0 }) {
            return "`\(ending)` is appended where it is needed"
        }
        if taken.contains(name) { return "it would hide something else of that name" }
        return nil
    }

    /// Returns a similar name that is valid, or `nil` if there is none.
    static func suggestion(for name: String) -> String? {
        guard let camel = SwiftIdentifier(camelCasing: name.replacing("_", with: " "))?.text else { return nil }
        var better = camel.prefix(1).uppercased() + camel.dropFirst()
        while let ending = endings.first(where: { better.hasSuffix($0) && better != $0 }) {
            better.removeLast(ending.count)
        }
        return better != name && refusal(of: better) == nil ? better : nil
    }

    private static let longest = 60

    /// The suffixes that are appended to names.
    private static let endings = ["Plugin", "Manager", "Contracts", "Tests"]

    /// The names that would shadow modules and types of the generated code, or be shadowed by them.
    private static let taken: Set<String> = [
        // Swift
        "Any", "AnyObject", "AsyncStream", "Mutex", "Protocol", "Self", "Type", "Never", "Void", "Swift", "Actor",
        "Array", "Bool", "Character",
        "Codable", "Data", "Date", "Decimal",
        "Decodable", "Dictionary", "Double", "Duration", "Encodable", "Equatable", "Error", "Float", "Hashable", "Int",
        "Optional", "Range", "Result", "Sendable",
        "Sequence", "Set", "String", "Substring", "Task", "UInt", "URL", "UUID", "Foundation", "FoundationEssentials",
        "Glibc", "Dispatch", "Synchronization",
        "Suite", "Tag", "Test", "Testing", "XCTest", "PackageDescription", "Package", "Program", "StopSignals",
        // Backplane
        "Backplane", "BackplaneConformance", "BackplaneDefinitions", "BackplaneHTTP",
        "BackplaneHost", "BackplaneNetwork", "BackplaneOperations", "BackplaneOperationsNetwork", "BackplaneRoutes",
        "BackplaneRecords", "BackplaneSQLite", "BackplaneStorage", "BackplaneTestKit",
        "BackplaneURLSession", "CBackplane", "CBackplaneHost", "BackplaneError", "AsyncMethod", "Call",
        "CommunicationController", "Component", "ComponentError",
        "Context", "Contract", "ControlSocket", "DataAccessController", "Fake", "HTTPClient",
        "HTTP", "HTTPExecutor", "HTTPRequest", "HTTPResponse", "HTTPRoutes",
        "HostOptions", "Kept", "LaneRule", "Log", "Manager", "ManagerName", "Manifest", "ManifestDocument", "Member",
        "Methods", "NetworkService", "Nothing",
        "Indexed", "IndexedPair", "Indexes", "NoIndexes", "OldRecord",
        "Plugin", "PluginHost", "Problem", "Provides", "Record", "RecordCollection", "RecordIndexes", "RecordList",
        "RecordSelection", "RecordStore", "Recording",
        "Registrar", "Remote", "Resources", "Resumable", "Role", "RouteManager", "RouteProblem", "RouteRequest",
        "RouteResponse", "Routes",
        "Sourced", "State", "StatefulComponent", "Store", "StoreTransaction", "StreamMethod", "SyncMethod", "TestClock",
        "TestGate", "TestHTTP",
        "TestHost",
        "TestLog", "TestStore", "Version", "Versioned",
        "VersionRange", "Wire", "Wires", "Wiring",
    ]
}

extension Unicode.Scalar {
    fileprivate var isASCIILetterOrDigit: Bool {
        isASCII && (properties.isAlphabetic || properties.numericType != nil)
    }
}

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
    /// The word with its leading capitals in lower case, except for the capital that begins the next word.
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
