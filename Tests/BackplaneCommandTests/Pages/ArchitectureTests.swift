import Foundation
import Testing

/// The picture and the table of the targets in docs/architecture.md say what Package.swift says.
@Suite struct ArchitectureTests {
    private typealias Edges = [String: Set<String>]
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
    private let page: String
    /// What each target of the package depends on, without products of other packages.
    private let package: Edges
    /// The libraries and programs that are not examples, tests or rigs.
    private let targets: Set<String>

    init() throws {
        page = try String(contentsOf: Self.root.appending(path: "docs/architecture.md"), encoding: .utf8)
        let text = try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
        package = try Self.targets(of: text)
        targets = Set(package.keys.filter { $0.hasPrefix("Backplane") || $0.hasPrefix("CBackplane") })
    }

    @Test func `the picture shows each target, and what depends on what`() throws {
        let start = try #require(page.range(of: "```mermaid\ngraph TD\n")).upperBound
        let end = try #require(page.range(of: "```", range: start..<page.endIndex)).lowerBound
        let (nodes, arrows) = Self.picture(page[start..<end])
        #expect(targets.count > 20 && nodes == targets)
        for target in targets.sorted() {
            let shown = Self.reach(target, arrows), depends = Self.reach(target, package).intersection(targets)
            #expect(
                shown == depends,
                "\(target): missing \(depends.subtracting(shown).sorted()), wrong \(shown.subtracting(depends).sorted())"
            )
        }
    }

    @Test func `the table has a row for each target`() throws {
        let start = try #require(page.range(of: "| target | contents |\n|---|---|\n")).upperBound
        let end = try #require(page.range(of: "\n\n", range: start..<page.endIndex)).lowerBound
        let names = page[start..<end].split(separator: "\n").flatMap { row in
            row.split(separator: "|")[0].matches(of: /`(\w+)`/).map { String($0.1) }
        }
        #expect(Set(names) == targets && names.count == targets.count)
    }

    /// Reads the calls `.target(name:dependencies:…)` of a description, each of which begins on a line of its own.
    private static func targets(of description: String) throws -> Edges {
        var edges: Edges = [:]
        let start = try #require(description.range(of: "    targets: [")).upperBound
        for target in description[start...].split(
            separator: /\n {8}\.(?=(?:executableTarget|target|testTarget)\()/
        ).dropFirst() {
            guard !target.hasPrefix("testTarget"), !target.hasPrefix("//") else { continue }
            let name = try #require(target.firstMatch(of: /name: "([\w-]+)"/)).1
            let products = /engine\([^)]*\)/
            let list = target.firstMatch(of: /dependencies: \[((?:[^\[\]])*)\]/)?.1.replacing(products, with: "") ?? ""
            edges[String(name)] = Set(list.matches(of: /"([\w-]+)"/).map { String($0.1) })
        }
        return edges
    }

    /// Returns the nodes of a picture, and where their arrows lead, through groups too.
    private static func picture(_ text: Substring) -> (nodes: Set<String>, arrows: Edges) {
        var groups: Edges = [:], arrows: Edges = [:], group: String?
        for line in text.split(separator: "\n").map({ $0.drop(while: \.isWhitespace) }) {
            if let match = line.wholeMatch(of: /subgraph (\w+).*/) {
                group = String(match.1)
            } else if line == "end" {
                group = nil
            } else if let match = line.wholeMatch(of: /(\w+) --> (.*)/) {
                let ends = match.2.split(separator: " & ").map(String.init)
                arrows[String(match.1), default: []].formUnion(ends.flatMap { groups[$0] ?? [$0] })
            } else if let group {
                groups[group, default: []].insert(String(line))
            }
        }
        return (groups.values.reduce(into: []) { $0.formUnion($1) }, arrows)
    }

    /// Returns everything that a target depends on, directly or through others.
    private static func reach(_ target: String, _ edges: Edges) -> Set<String> {
        var found: Set<String> = [], next = [target]
        while let target = next.popLast() {
            for end in edges[target] ?? [] where found.insert(end).inserted { next.append(end) }
        }
        return found
    }
}
