// Fails for public symbols without a doc comment, and for doc comments that only repeat a symbol's name.
//
//   swift .ci/lint-docs.swift FOLDER
//
// FOLDER contains the symbol graphs that .ci/symbol-graphs extracts. Inherited doc comments count. Unavailable symbols,
// and symbols whose names begin with an underscore, need no doc comment.
import Foundation

struct SymbolGraph: Decodable {
    struct Symbol: Decodable {
        struct Text: Decodable {
            struct Line: Decodable { var text: String }
            var lines: [Line]
        }
        struct Location: Decodable {
            struct Position: Decodable { var line: Int }
            var uri: String
            var position: Position
        }
        struct Availability: Decodable { var isUnconditionallyUnavailable: Bool? }
        var pathComponents: [String]
        var docComment: Text?
        var location: Location?
        var availability: [Availability]?
    }
    var symbols: [Symbol]
}

extension SymbolGraph.Symbol {
    /// A Boolean value that indicates whether the symbol is in the source, and not synthesised by the compiler.
    var isWritten: Bool { location != nil }

    var needsDocumentation: Bool {
        !pathComponents.contains { $0.hasPrefix("_") }
            && !(availability ?? []).contains { $0.isUnconditionallyUnavailable == true }
    }

    /// The first paragraph of the doc comment; empty if the comment begins with a list.
    var abstract: String {
        let lines = (docComment?.lines ?? []).map { $0.text.trimmingCharacters(in: .whitespaces) }
        return lines.drop(while: \.isEmpty).prefix { !$0.isEmpty && !$0.hasPrefix("- ") }.joined(separator: " ")
    }

    /// The fault of the doc comment; `nil` if there is none.
    var fault: String? {
        if docComment == nil { return "has no doc comment" }
        if abstract.isEmpty { return "has a doc comment without an abstract" }
        let name = Words.ofName(pathComponents.joined(separator: " "))
        return Words.ofAbstract(abstract).isSubset(of: name) ? "has an abstract that only repeats its name" : nil
    }

    /// Returns a line such as "Sources/Backplane/Contracts/Wire.swift:12: Wire.slot has no doc comment"; `nil` for a
    /// symbol of another package.
    func report(_ fault: String, below root: String) -> String? {
        guard let location, let path = URL(string: location.uri)?.path(percentEncoded: false), path.hasPrefix(root)
        else { return nil }
        return
            "\(path.dropFirst(root.count)):\(location.position.line + 1): \(pathComponents.joined(separator: ".")) \(fault)"
    }
}

/// The words of names and sentences, in lower case.
enum Words {
    /// Words without information.
    private static let empty: Set<String> = [
        "a", "an", "the", "this", "that", "its", "of", "for", "with", "from", "to", "in", "on", "is", "are", "and",
        "or", "new", "instance", "value", "type", "given",
        "create", "creates", "initialize", "initializes", "initialise", "initialises", "make", "makes", "return",
        "returns", "give", "gives", "get", "gets", "set", "sets",
    ]

    /// Returns the words in a text: "makeHTTPClient(named:)" → make, http, client, named.
    private static func words(in text: String) -> [String] {
        text.matches(of: #/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/#).map { $0.output.lowercased() }
    }

    /// Returns the words of a name, in singular and plural.
    static func ofName(_ name: String) -> Set<String> {
        let words = words(in: name)
        return Set(words + words.map { $0 + "s" } + words.filter { $0.hasSuffix("s") }.map { String($0.dropLast()) })
    }

    /// Returns the words of an abstract that contain information.
    static func ofAbstract(_ abstract: String) -> Set<String> { Set(words(in: abstract)).subtracting(empty) }
}

guard CommandLine.arguments.count == 2 else {
    print("usage: swift .ci/lint-docs.swift FOLDER")
    exit(64)
}
let folder = URL(filePath: CommandLine.arguments[1]), root = FileManager.default.currentDirectoryPath + "/"
let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).filter {
    $0.lastPathComponent.hasSuffix(".symbols.json")
}
var symbols = 0, reports: Set<String> = []
for file in files {
    for symbol in try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: file)).symbols
    where symbol.isWritten && symbol.needsDocumentation {
        symbols += 1
        if let fault = symbol.fault, let report = symbol.report(fault, below: root) { reports.insert(report) }
    }
}
for report in reports.sorted() { print(report) }
print("\(symbols) public symbols, \(reports.count) to document")
exit(symbols == 0 || !reports.isEmpty ? 1 : 0)
