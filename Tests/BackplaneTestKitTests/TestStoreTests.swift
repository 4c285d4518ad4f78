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

    private func withSexton(_ test: (TestHost, Remote<Ringing>) async throws -> Void) async throws {
        let errand = Fake(Errand.self) { $0.async(\.run) { text, _ in text } }
        try await TestHost.run(
            .parish, plugins: [ParishPlugin.self], fakes: [.communicationController(of: "Sexton"): errand]
        ) { host in
            try await test(host, try await host.manager(.sexton))
        }
    }

    @Test func `a test fills the store and sees what a component keeps there`() async throws {
        try await withSexton { host, sexton in
            try await host.store.save(Entry(id: "dawn"), Entry(id: "dusk"), in: "Register")
            try await host.store.save(json: #"{"id":"night"}"#, as: "night", of: "entries", in: "Register")
            let answer = try await sexton.ring("noon")
            #expect(answer == "noon 4 at 12")
            #expect(
                try await host.store.all(Entry.self, in: "Register").map(\.id) == ["dawn", "dusk", "night", "noon"])
            #expect(await host.store.ids(of: "entries", in: "Register") == ["dawn", "dusk", "night", "noon"])
            #expect(await host.store.json("noon", of: "entries", in: "Register") == #"{"id":"noon"}"#)
            #expect(await host.store.json("noon", of: "entries", in: "Nowhere") == nil)
        }
    }

    @Test func `a store that fails does so for components, and for as long as the test wants`() async throws {
        try await withSexton { host, sexton in
            host.store.failure = BackplaneError(.storeUnusable, "the disk is full")
            let error = await #expect(throws: BackplaneError.self) { try await sexton.ring("noon") }
            #expect(error?.code == .storeUnusable && error?.message == "the disk is full")
            try await host.store.save(Entry(id: "dawn"), in: "Register")
            host.store.failure = nil
            #expect(try await sexton.ring("noon") == "noon 2 at 12")
        }
    }

    @Test func `a record of another shape than asked for is an error`() async throws {
        let store = TestStore()
        try await store.save(json: "{}", as: "x", of: "entries", in: "Register")
        let error = await #expect(throws: BackplaneError.self) { try await store.all(Entry.self, in: "Register") }
        #expect(error?.code == .storeUndecodable)
    }
}
