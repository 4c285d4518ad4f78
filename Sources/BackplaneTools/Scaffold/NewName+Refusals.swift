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
