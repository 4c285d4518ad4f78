import Backplane
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// When a host opens its store, how, and what it says when it cannot.
@Suite(.timeLimit(.minutes(5)))
struct StoreOpeningTests {
    private let folder: TestFolder
    private let log = TestLog()
    /// The treatments of damage that the store was to be opened with.
    private let openings = Recording<DamagedStorePolicy>()

    init() throws { folder = try TestFolder() }

    private func manifest(_ damaged: DamagedStorePolicy, isLazy: Bool = false) -> Manifest {
        var notes = ManagerDefinition(
            className: "NotebookManager",
            dataAccessController: ComponentDefinition(className: "NoteStore"))
        notes.activation = isLazy ? .lazy : .eager
        return Manifest(plugins: [], managers: ["Notes": notes], store: StoreSettings(damaged: damaged))
    }

    private func host(_ manifest: Manifest, program: DamagedStorePolicy? = nil, failing error: BackplaneError? = nil)
        -> PluginHost
    {
        var options = HostOptions(
            dataFolder: folder.path, log: log,
            openStore: { [openings] _, settings, _ in
                openings.add(settings.damaged)
                if let error { throw error }
                return MemoryRecordStore()
            })
        options.damagedStore = program
        return PluginHost(manifest: manifest, plugins: [NotebookPlugin.self], options: options)
    }

    private func expectStore(of host: PluginHost, _ sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let notes: Remote<Notebook> = try await host.manager("Notes")
        #expect(try await notes.count() == 0, sourceLocation: sourceLocation)
    }

    @Test func `the manifest says what becomes of a damaged store, unless the program does`() async throws {
        for (program, expected) in [(nil, DamagedStorePolicy.refuse), (.salvage, .salvage)]
            as [(DamagedStorePolicy?, DamagedStorePolicy)]
        {
            let host = host(manifest(.refuse), program: program)
            try await expectStore(of: host)
            await host.stop()
            #expect(openings.all.last == expected)
        }
        #expect(openings.all.count == 2, "each host opens its store once")
    }

    @Test func `the store is open when the start is over, and one without data access controllers has none`()
        async throws
    {
        let host = host(manifest(.salvage))
        try await host.start()
        #expect(openings.all == [.salvage])
        await host.stop()
        let other = self.host(Manifest(plugins: [], managers: [:]))
        try await other.start()
        await other.stop()
        #expect(openings.all.count == 1)
    }

    @Test func `a store that cannot be used is in the log when the start is over, and an error of every call`()
        async throws
    {
        let problem = BackplaneError(.storeUnusable, "the file system of /data is read-only")
        let host = host(manifest(.salvage), failing: problem)
        try await host.start()
        let lines = log.records.filter { $0.level == .error }
        #expect(lines.count == 1 && lines.first?.metadata["error"] == problem.description, "\(lines)")
        let notes: Remote<Notebook> = try await host.manager("Notes")
        #expect(await error { try await notes.all() } == problem)
        #expect(await error { try await notes.all() } == problem)
        #expect(openings.all.count == 3, "each call tries again")
        #expect(log.records.filter { $0.level == .error }.count == 1)
        await host.stop()
    }

    @Test func `a change of the store's settings is refused by name once it is open, and nothing has changed`()
        async throws
    {
        let host = host(manifest(.salvage))
        try await expectStore(of: host)
        let refusal = await error { try await host.apply(manifest(.refuse)) }
        #expect(refusal?.code == .manifestNeedsRestart)
        #expect(refusal?.message.contains("`/store/damaged`") == true, "\(String(describing: refusal))")
        try await expectStore(of: host)
        #expect(try await host.apply(manifest(.salvage)).managers.restarted.isEmpty)
        await host.stop()
    }
}
