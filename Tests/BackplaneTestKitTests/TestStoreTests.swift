import Backplane
import BackplaneStorage
import BackplaneTestKit
import Testing

@Suite(.timeLimit(.minutes(2)))
struct TestStoreTests {
    private struct Entry: Record, Hashable {
        static let collection = "entries"
        var id: String
    }

    private func withLibrarian(_ test: (TestHost, Remote<Lending>) async throws -> Void) async throws {
        let network = Fake(LendingNetwork.self) { $0.async(\.run) { text, _ in text } }
        try await TestHost.run(
            .lending, plugins: [LendingPlugin.self], fakes: [.communicationController(of: "Librarian"): network]
        ) { host in
            try await test(host, try await host.manager(.librarian))
        }
    }

    @Test func `a test fills the store and sees what a component keeps there`() async throws {
        try await withLibrarian { host, librarian in
            try await host.store.save(Entry(id: "dawn"), Entry(id: "dusk"), in: "LoanStore")
            try await host.store.save(json: #"{"id":"night"}"#, as: "night", of: "entries", in: "LoanStore")
            let answer = try await librarian.lend("whale")
            #expect(answer == "whale 4 at 12")
            #expect(
                try await host.store.all(Entry.self, in: "LoanStore").map(\.id) == ["dawn", "dusk", "night", "whale"])
            #expect(await host.store.ids(of: "entries", in: "LoanStore") == ["dawn", "dusk", "night", "whale"])
            #expect(await host.store.json("whale", of: "entries", in: "LoanStore") == #"{"id":"whale"}"#)
            #expect(await host.store.json("whale", of: "entries", in: "Nowhere") == nil)
        }
    }

    @Test func `a store that fails does so for components, and for as long as the test wants`() async throws {
        try await withLibrarian { host, librarian in
            host.store.failure = BackplaneError(.storeUnusable, "the disk is full")
            let error = await #expect(throws: BackplaneError.self) { try await librarian.lend("whale") }
            #expect(error?.code == .storeUnusable && error?.message == "the disk is full")
            try await host.store.save(Entry(id: "dawn"), in: "LoanStore")
            host.store.failure = nil
            #expect(try await librarian.lend("whale") == "whale 2 at 12")
        }
    }

    @Test func `a record of another shape than asked for is an error`() async throws {
        let store = TestStore()
        try await store.save(json: "{}", as: "x", of: "entries", in: "LoanStore")
        let error = await #expect(throws: BackplaneError.self) { try await store.all(Entry.self, in: "LoanStore") }
        #expect(error?.code == .storeUndecodable)
    }
}
