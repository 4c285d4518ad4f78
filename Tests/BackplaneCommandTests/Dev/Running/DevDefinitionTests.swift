import Backplane
import BackplaneHost
import Foundation
import Testing

@testable import BackplaneDev

/// Definitions of web services that are saved while `backplane dev` runs what uses them.
@Suite(.timeLimit(.minutes(3)))
struct DevDefinitionTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Saves a file as an editor does: beside it, and then in its place.
    private func save(_ text: String, as path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path + ".tmp"))
        try #require(rename(path + ".tmp", path) == 0)
    }

    @Test func `a definition that is saved is swapped like code, and a faulty one is refused`() async throws {
        let (manifest, definition) = try tool.copyDefinedBookshelf()
        let dev = try DevRun(manifest, with: tool)
        try await dev.next("started")
        let report = try await dev.up()
        #expect(report.managers.allSatisfy { $0.state == "ready" }, "\(report)")
        let text = try String(contentsOfFile: definition, encoding: .utf8)
        try save(text.replacing("search?q=%0", with: "search?text=%0"), as: definition)
        #expect(try await dev.swapped().plugins.map(\.plugin) == ["definition.Books"])
        try save("{", as: definition)
        let refusal = try await dev.refused()
        #expect("\(refusal)".contains("Books"), "\(refusal)")
        try save(text, as: definition)
        #expect(try await dev.swapped().plugins.map(\.plugin) == ["definition.Books"])
        try await dev.stop()
    }
}
