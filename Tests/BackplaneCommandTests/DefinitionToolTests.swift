import Foundation
import Testing

/// What the tools show of a network service without code.
@Suite(.timeLimit(.minutes(5)))
struct DefinitionToolTests {
    private let tool: Tool
    private static let manifest = Tool.manifests + "/bookshelf-definition.json"

    init() throws { tool = try Tool() }

    @Test(
        arguments: [
            (["check"], ["0 errors"]),
            (["graph"], ["WebService 1.0.0", "definition.Books", "BooksAPI"]),
            (["graph", "--format", "json"], [#"the definition of `Books` returns JSON"#]),
            (["explain", "LibraryManager"], ["WebService", "definition.Books"]),
            (["services"], ["definition.Books 1.0.0", "WebService 1.0.0", "BooksAPI"]),
        ])
    func `a service without code is one like all others`(arguments: [String], words: [String]) async throws {
        let outcome = try await tool.start(
            [arguments[0], Self.manifest] + arguments.dropFirst() + ["--data", tool.data, "--load-folder", tool.loads]
        ).end()
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
        for word in words { #expect(outcome.output.contains(word), "\(word): \(outcome.output)") }
    }

    @Test func `a mistake in the definition of a service is found with the manifest, at its line`() async throws {
        let (manifest, definition) = try tool.copyDefinedBookshelf()
        #expect(try await tool.run("check", manifest).status == 0)
        try tool.write(
            """
            {
              "search": {
                "request": { "path": "search?q=%1", "methd": "GET" }
              },
              "find": { "request": 7 }
            }
            """, as: "app/definitions/Books.json")
        let outcome = try await tool.run("check", manifest)
        #expect(outcome.status == 1 && outcome.errors == "", "\(outcome)")
        #expect(outcome.output.contains("\(definition):5:13: error: /find/request: "), "\(outcome.output)")
        #expect(!outcome.output.contains("app.json:1:1"))
    }
}
