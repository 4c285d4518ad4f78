import Backplane
import BackplaneSQLite
import Foundation
import Testing

@testable import BackplaneHost

/// The plugin of the step that added searches and waits to `backplane.store/2`: a data access controller in C.
@Suite(.timeLimit(.minutes(5)))
struct SearchStepTests {
    private let test: TestHost

    init() throws {
        let folder = try LoadingFixture.Folder()
        let source = try String(contentsOfFile: CompatibilityFolder.path + "/Steps/search.c", encoding: .utf8)
        let library = try LoadingFixture.library(
            of: source, ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden"])
        try folder.write(library, as: "libFinder.so")
        test = try TestHost(
            """
            {"manifestVersion": 1, "plugins": [{"library": "Finder"}],
             "managers": {"Books": {"className": "FinderReader", "dataAccessController": {"className": "FinderStore"}}}}
            """, linked: [], in: folder
        ) { $0.openStore = { folder, _, report in try SQLiteRecordStore(folder: folder, report: report) } }
    }

    private func call(_ method: String, _ input: String = "null") async throws(BackplaneError) -> String {
        try await test.call("Books", method, input)
    }

    @Test func `books are found by their words`() async throws {
        _ = try await call("define")
        _ = try await call("fill")
        #expect(try await call("search", #""moon""#) == #"["moon"]"#)
        #expect(try await call("search", #""VERNE twen*""#) == #"["sea"]"#)
        #expect(try await call("search", #""verne austen""#) == "[]")
        await test.host.stop()
    }

    @Test func `what cannot be is an error that says why`() async throws {
        _ = try await call("fill")
        #expect(await error { try await call("search", #""moon""#) }?.code == .init(rawValue: "store.unindexed"))
        let wrong = await error { try await call("wrong") }
        #expect(wrong?.code == .callInvalidInput)
        #expect(wrong?.message.contains("`unicode`, `english` or `substrings`, found \"runes\"") == true)
        _ = try await call("define")
        #expect(await error { try await call("search", #""""#) }?.code == .callInvalidInput)
        await test.host.stop()
    }

    @Test func `a wait ends with the change, the deadline or the component`() async throws {
        let last = try await call("fill")
        _ = try await call("wait", "0")
        let waiting = Task { [self] () -> Result<String, BackplaneError> in
            do throws(BackplaneError) { return .success(try await call("wait", last)) } catch { return .failure(error) }
        }
        #expect(await error { try await call("soon", last) }?.code == .callDeadline)
        let later = try await call("later")
        _ = try await waiting.value.get()
        let endless = Task { [self] in await error { try await call("wait", later) } }
        await test.host.stop()
        #expect(await endless.value != nil)
    }
}
