import Backplane
import BackplaneTestKit
import BookshelfContracts
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// The files of a plugin, from the folder beside its library to the component that reads them.
@Suite(.timeLimit(.minutes(5)))
struct PluginFilesTests {
    /// A host with a copy of the library Bookshelf, and beside it these folders, each with its own list of words to
    /// leave out.
    private func host(_ folders: [String: String], resources: String? = nil) throws -> TestHost {
        let folder = try TestFolder()
        try folder.write(
            Array(try Data(contentsOf: URL(filePath: BuiltProducts.folder + "/libBookshelf.so"))), as: "libBookshelf.so"
        )
        for (name, words) in folders {
            _ = try folder.makeFolder(name)
            try folder.write(Array(words.utf8), as: name + "/fillers.json", mode: 0o644)
        }
        let key = resources.map { #", "resources": "\#($0)""# } ?? ""
        return try TestHost(
            """
            {"manifestVersion": 1, "plugins": [{"library": "Bookshelf"\(key)}], "managers": {"LibraryManager": {
                "className": "LibraryManager", "dataAccessController": {"className": "BookStore"},
                "communicationController": {"className": "Echo"}}}}
            """, plugins: [EchoPlugin.self], in: folder)
    }

    /// What is left of `the whale` once the words of the plugin's file are gone.
    private func essence(_ test: TestHost) async throws -> [String] {
        let library = try await test.host.manager("LibraryManager", as: Library.self)
        return try await library.search(BookQuery(text: "the whale")).value.map(\.title)
    }

    @Test func `a component reads the files in the folder next to its library`() async throws {
        let test = try host(["app_Bookshelf.resources": #"["whale"]"#])
        #expect(try await essence(test) == ["the"])
        await test.host.stop()
    }

    @Test func `a component that needs a file which did not come says so when it starts`() async throws {
        let test = try host([:])
        let error = await error { try await essence(test) }
        #expect(error?.code == .resourceMissing)
        #expect(error?.location?.hasPrefix("/managers/LibraryManager") == true)
        await test.host.stop()
    }
}

/// Answers a search with a book that is called as what was searched.
private struct EchoPlugin: Plugin {
    static let id = "org.example.echo"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(Echo.self) }
}

private final class Echo: CommunicationController {
    typealias Provides = LibraryNetwork
    init(_ context: Context) {}
    static func methods(_ table: inout Methods) {
        table.async(\.find) { _, query, _ in
            [Book(id: query.text, title: query.text, authors: [], year: 0, language: "en")]
        }
        table.async(\.borrow) { _, _, _ in throw CancellationError() }
        table.async(\.giveBack) { _, _, _ in throw CancellationError() }
        table.async(\.page) { _, _, _ in throw CancellationError() }
        table.async(\.cover) { _, _, _ in throw CancellationError() }
        table.stream(\.text) { _, _, _, _ in throw CancellationError() }
        table.stream(\.events) { _, _, _, _ in throw CancellationError() }
    }
}
