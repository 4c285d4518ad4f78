import Foundation
import Testing

/// The names of types, which docs/architecture.md has a rule for.
@Suite(.timeLimit(.minutes(5)))
struct TypeNameTests {
    private static let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardizedFileURL
        .path

    @Test func `no two types share a name`() throws {
        // The example's server and what the benchmarks load are programs and plugins of their own, and the templates
        // contain the types of new packages.
        let exempt = ["bookshelf-server/", "BackplaneBench/Rig/", "BackplaneScaffold/Templates/"]
        let types = try SourceFolder.files(in: Self.sources).filter { file in !exempt.contains { file.hasPrefix($0) } }
            .flatMap { file in
                DeclaredType.all(in: try String(contentsOfFile: Self.sources + "/" + file, encoding: .utf8), of: file)
            }
        #expect(types.count > 1_000)
        let conflicts = DeclaredType.conflicts(among: types)
        #expect(conflicts.isEmpty, "\(conflicts.map(\.description).joined(separator: "\n"))")
    }

    @Test func `types of one name are found`() {
        let first = DeclaredType.all(
            in: """
                public struct Connection {
                    enum State { case open }
                    struct Creation {}
                }
                private final class Look {}
                """, of: "First.swift")
        let second = DeclaredType.all(
            in: """
                package struct Creation {
                    public enum Connection {}
                    enum State {}
                }
                @MainActor private struct Look {}
                let text = \"\"\"
                struct Connection {}
                \"\"\"
                """, of: "Second.swift")
        #expect(first.map(\.name) == ["Connection", "State", "Creation", "Look"])
        #expect(second.map(\.name) == ["Creation", "Connection", "State", "Look"])
        #expect(
            DeclaredType.conflicts(among: first + second).map(\.description) == [
                "Creation in First.swift", "Creation in Second.swift",
            ])
        #expect(
            DeclaredType.conflicts(among: first + DeclaredType.all(in: "actor Connection {}", of: "Third.swift")).map(
                \.description) == ["Connection in First.swift", "Connection in Third.swift"])
    }
}

/// A declaration of a type, found by its text.
private struct DeclaredType {
    let name: String
    let isNested: Bool
    /// The words before the kind of the type, such as "public final".
    let modifiers: String
    let file: String

    var description: String { "\(name) in \(file)" }

    private static let declaration = try? NSRegularExpression(
        pattern: #"^( *)((?:@\w+(?:\([^)\n]*\))? +|(?:public|package|private|fileprivate|final|indirect) +)*)"#
            + #"(?:class|struct|enum|actor|protocol|typealias) +([A-Z]\w*)"#, options: .anchorsMatchLines)

    static func all(in source: String, of file: String) -> [DeclaredType] {
        // Between two quotes of three characters is text.
        let code = source.components(separatedBy: "\"\"\"").enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            .joined(separator: "\"\"")
        let text = code as NSString
        return (declaration?.matches(in: code, range: NSRange(location: 0, length: text.length)) ?? []).map { match in
            DeclaredType(
                name: text.substring(with: match.range(at: 3)), isNested: match.range(at: 1).length > 0,
                modifiers: text.substring(with: match.range(at: 2)), file: file)
        }
    }

    /// Returns the types with the name of another one that the rule does not allow.
    ///
    /// Private types may share a name, as may nested ones, which are read with the name of the type around them. A
    /// nested type has the name of a type that is not nested only as public API, or as a verb of the command.
    static func conflicts(among types: [DeclaredType]) -> [DeclaredType] {
        let shared = types.filter { !$0.modifiers.contains("private") }
        return Dictionary(grouping: shared, by: \.name).values.flatMap { named -> [DeclaredType] in
            let outer = named.filter { !$0.isNested }
            let nested = named.filter {
                $0.isNested && !$0.modifiers.contains("public") && !$0.file.hasPrefix("BackplaneCommand/")
            }
            return outer.isEmpty || outer.count + nested.count == 1 ? [] : outer + nested
        }.sorted { ($0.name, $0.file) < ($1.name, $1.file) }
    }
}
