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
}
