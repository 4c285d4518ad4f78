import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTestKit
import BooksAPIv1
import Bookshelf
import BookshelfContracts
import Foundation
import Synchronization
import TestFixtures
import Testing

@Suite(.timeLimit(.minutes(2)))
struct TestHostTests {
    private static let fakes: [Fake.Place: Fake] = [
        .communicationController: Fake(LendingNetwork.self) { $0.async(\.run) { text, _ in text } },
        .dataAccessController: Fake(Ledger.self) { $0.async(\.keep) { _, _ in 1 } },
    ]

    @Test func `one manager is tested by its class name, with nothing but fakes around it`() async throws {
        let answer = try await TestHost.run(
            "Librarian", configuration: ["greeting": "Hey "], plugins: [LendingPlugin.self], fakes: Self.fakes
        ) { host in
            try await host.manager("Librarian", as: Lending.self).lend("whale", host.begin(within: .seconds(60)))
        }
        #expect(answer == "Hey whale 1")
    }

    @Test func `what the components write is collected under their names`() async throws {
        try await TestHost.run("Librarian", plugins: [LendingPlugin.self], fakes: Self.fakes) { host in
            _ = try await host.manager(.librarian)
            #expect(host.log.messages(from: "Librarian") == ["created"])
            #expect(try await host.log.record("created").level == .info)
            #expect(host.log.messages(from: "host").contains("started"))
        }
    }

    @Test func `folders are private and gone when the test is through`() async throws {
        let folder = try await TestHost.run("Librarian", plugins: [LendingPlugin.self], fakes: Self.fakes) { host in
            _ = try await host.manager(.librarian)
            let mode = try FileManager.default.attributesOfItem(atPath: host.folder)[.posixPermissions] as? Int
            #expect(mode == 0o700)
            return host.folder
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func `a test that throws is stopped and cleared away as well, and its error arrives`() async throws {
        struct TestFailure: Error {}
        let seen = Mutex<TestHost?>(nil)
        await #expect(throws: TestFailure.self) {
            try await TestHost.run("Librarian", plugins: [LendingPlugin.self], fakes: Self.fakes) { host in
                _ = try await host.manager(.librarian)
                seen.withLock { $0 = host }
                throw TestFailure()
            }
        }
        let host = try #require(seen.withLock { $0 })
        #expect(!FileManager.default.fileExists(atPath: host.folder))
        let error = await #expect(throws: BackplaneError.self) { try await host.manager(.librarian) }
        #expect(error?.code == .hostStopped)
    }

    @Test func `everything wrong with a manifest is one error, and nothing starts`() async throws {
        var manifest = Manifest.lending
        manifest.managers["Librarian"]?.dataAccessController?.className = "LoanStorr"
        manifest.managers["Other"] = ManagerDefinition(className: "Nobody")
        let started = Mutex(false)
        let error = await #expect(throws: ManifestRefused.self) {
            try await TestHost.run(manifest, plugins: [LendingPlugin.self]) { _ in started.withLock { $0 = true } }
        }
        #expect(!started.withLock { $0 })
        #expect(
            error?.description == """
                there are 2 problems with the manifest
                  /managers/Librarian/dataAccessController/className: component.unknown-class: no plugin registers a class `LoanStorr`; did you mean `LoanStore`?
                  /managers/Other/className: component.unknown-class: no plugin registers a class `Nobody`; registered as a manager: `ClockReader`, `Librarian`, `ReadingClock`
                """)
    }

    @Test func `errors that follow from others are counted`() async throws {
        var manifest = Manifest.lending
        manifest.plugins = [PluginReference(library: "Tides")]
        for name in ["Tides", "Streams"] { manifest.managers[name] = ManagerDefinition(className: "Table of \(name)") }
        let error = await #expect(throws: ManifestRefused.self) {
            try await TestHost.run(manifest, plugins: [LendingPlugin.self], pluginPaths: ["/nowhere"]) { _ in }
        }
        #expect(error?.problems.map(\.error.code) == [.pluginNotFound] && error?.consequences == 2)
        #expect(error?.description.hasSuffix("\n  2 more errors may follow from it") == true, "\(error as Any)")
    }

    @Test func `real layers down to HTTP and the store, from the manifest's own file`() async throws {
        let manifest = try Manifest(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../manifests/bookshelf-v1.json").standardized
                .path)
        try await TestHost.run(manifest, plugins: [BookshelfPlugin.self, BooksAPIv1Plugin.self]) { host in
            let found =
                #"[{"id": "moby-dick", "title": "Moby-Dick", "author": "Herman Melville", "year": 1851, "language": "en"}]"#
            host.http.on("GET", "http://127.0.0.1:8484/v1/search?q=whale", .json(text: found), .noConnection)
            let library = try await host.manager("LibraryManager", as: Library.self)
            let first = try await library.search(BookQuery(text: "whale")),
                second = try await library.search(BookQuery(text: "the whale"))
            #expect(first.source == .network && first.value.map(\.title) == ["Moby-Dick"])
            #expect(second.value == first.value && second.source != .network)
            #expect(await host.store.ids(of: "searches", in: "BookStore") == ["whale"])
        }
    }

    @Test func `libraries are loaded where the test says where they are`() async throws {
        var manifest = try Manifest(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../manifests/bookshelf-v1.json").standardized
                .path)
        manifest.managers["LibraryManager"]?.communicationController?.configuration = [:]
        let network = Fake(LibraryNetwork.self) { $0.async(\.find) { _, _ in [] } }
        try await TestHost.run(
            manifest, plugins: [], fakes: [.communicationController: network], pluginPaths: [BuiltProducts.folder]
        ) { host in
            let library = try await host.manager("LibraryManager", as: Library.self)
            #expect(try await library.search(BookQuery(text: "whale")).source == .network)
            #expect(await host.host.managers.map(\.plugin) == ["org.backplane.bookshelf"])
            #expect(await host.host.wires.contains { $0.provider == "Fake.LibraryNetwork" && $0.lane == .native })
        }
    }
}
