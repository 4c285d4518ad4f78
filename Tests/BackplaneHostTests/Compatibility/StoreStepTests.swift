import Backplane
import Foundation
import Testing

@testable import BackplaneHost

/// The plugin of the step that brought `backplane.store/2`: a data access controller in C, loaded from a file, with a
/// manager that passes calls on.
@Suite(.timeLimit(.minutes(5)))
struct StoreStepTests {
    private let test: TestHost

    init() throws {
        let folder = try LoadingFixture.Folder()
        let source = try String(contentsOfFile: CompatibilityFolder.path + "/Steps/store.c", encoding: .utf8)
        let library = try LoadingFixture.library(
            of: source, ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden"])
        try folder.write(library, as: "libCatalogue.so")
        test = try TestHost(
            """
            {"manifestVersion": 1, "plugins": [{"library": "Catalogue"}],
             "managers": {"Books": {"className": "CatalogueReader", "dataAccessController": {"className": "CatalogueStore"}}}}
            """, linked: [], in: folder)
    }

    private func call(_ method: String) async throws(BackplaneError) -> String { try await test.call("Books", method) }

    @Test func `books are found by declared indexes, page by page`() async throws {
        _ = try await call("define")
        #expect(try await call("fill") == "[1, 2, 3, 4, 5]")
        _ = try await call("define")
        #expect(try await call("count") == "5")
        #expect(try await call("verne") == #"["moon 1", "sea 3", "around 4"]"#)
        #expect(try await call("years") == #"["sea 3", "around 4"]"#)
        #expect(try await call("prefix") == #"["atlas 5", "around 4"]"#)
        #expect(try await call("last") == #"["sea 3", "moon 1", "emma 2", "atlas 5", "around 4"]"#)
        #expect(try await call("ids") == #"["emma 2", "moon 1"]"#)
        await test.host.stop()
    }

    @Test func `conditions and uniqueness keep a batch from changing anything`() async throws {
        _ = try await call("define")
        _ = try await call("fill")
        let again = await error { try await call("again") }
        #expect(again?.code.rawValue == "store.conflict" && again?.location == #"books/"moon""#, "\(again as Any)")
        let twice = await error { try await call("twice") }
        #expect(twice?.code.rawValue == "store.duplicate" && twice?.message.contains(#""sea""#) == true)
        #expect(await error { try await call("unchanged") }?.code.rawValue == "store.conflict")
        #expect(try await call("count") == "5")
        await test.host.stop()
    }

    @Test func `the log has the changes after a number, and says that there are more`() async throws {
        _ = try await call("fill")
        let changes = try await call("changes")
        #expect(changes.hasPrefix(#"["around 1", {"title":"Around the World""#), "\(changes)")
        #expect(changes.hasSuffix(#""flags 0"]"#), "two changes are left, which is the limit: \(changes)")
        await test.host.stop()
    }

    @Test func `what cannot be is an error that says why`() async throws {
        _ = try await call("define")
        _ = try await call("fill")
        let unknown = await error { try await call("unknown") }
        #expect(unknown?.code.rawValue == "store.unindexed")
        #expect(unknown?.message.contains("`author.name,year`, `isbn`, `titles`") == true, "\(unknown as Any)")
        let wrong = await error { try await call("wrong") }
        #expect(wrong?.code == .callInvalidInput)
        #expect(wrong?.message.contains("a JSON number, string, Boolean") == true, "\(wrong as Any)")
        #expect(await error { try await call("late") }?.code == .callDeadline)
        await test.host.stop()
    }
}
