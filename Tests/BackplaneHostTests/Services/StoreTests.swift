import Backplane
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// The record store as a data access controller uses it, through the boundary.
@Suite(.timeLimit(.minutes(5)))
struct StoreTests {
    private func withNotes(
        log: any LogSink = SilentLog(), _ body: (Remote<Notebook>, Remote<Notebook>) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        func notebook(_ namespace: String) -> ManagerDefinition {
            ManagerDefinition(
                className: "NotebookManager",
                dataAccessController: ComponentDefinition(className: "NoteStore", namespace: namespace))
        }
        let host = PluginHost(
            manifest: Manifest(plugins: [], managers: ["First": notebook("first"), "Second": notebook("second")]),
            plugins: [NotebookPlugin.self],
            options: HostOptions(dataFolder: folder.path, log: log, openStore: { _, _, _ in MemoryRecordStore() }))
        try await body(try await host.manager("First"), try await host.manager("Second"))
        await host.stop()
    }

    private let notes = [
        Note(id: "b", text: "second"), Note(id: "a", text: "first"), Note(id: "c", text: "third \u{1F40B}"),
    ]

    @Test func `two data access controllers do not see each other's records`() async throws {
        try await withNotes { first, second in
            _ = try await first.save(notes)
            #expect(try await second.all() == [])
            _ = try await second.deleteAll()
            #expect(try await first.count() == 3)
        }
    }

    @Test func `a write is logged with the trace of the call that it is made for`() async throws {
        let log = TestLog()
        try await withNotes(log: log) { notebook, _ in
            let call = Call(within: .seconds(600)), id = try #require(call.trace?.id)
            _ = try await notebook.saveForCall(notes, call)
            _ = try await notebook.save(notes, call)
            _ = await error { try await notebook.saveForCall([Note(id: "", text: "")], call) }
            let lines = log.records.filter { $0.message.hasPrefix("records ") }
            #expect(lines.map(\.message) == ["records written", "records written", "records not written"])
            #expect(lines.map { $0.metadata["trace"] } == [id, nil, id], "only what is made for a call has its trace")
            #expect(lines[0].metadata["component"] == "NoteStore" && lines[0].metadata["changes"] == "3")
            #expect(lines[0].metadata["collections"] == "Note" && lines[2].metadata["error"] == "call.invalid-input")
        }
    }
}

struct Note: Record, Hashable {
    var id: String
    var text: String
}

struct Notebook: Contract {
    static let version: Version = "1.0.0"
    let save = AsyncMethod<[Note], Nothing>()
    let all = AsyncMethod<Nothing, [Note]>()
    let count = AsyncMethod<Nothing, Int>()
    let deleteAll = AsyncMethod<Nothing, Nothing>()
    /// Saves notes for the call that is served.
    let saveForCall = AsyncMethod<[Note], Nothing>()
}

struct NotebookPlugin: Plugin {
    static let id = "org.backplane.tests.notebook"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(NotebookManager.self)
        registrar.add(NoteStore.self)
    }
}

/// Passes everything on.
private final class NotebookManager: Manager {
    typealias Provides = Notebook
    struct Wires: Wiring {
        let dataAccessController: Wire<Notebook>
    }
    private let store: Wire<Notebook>

    init(_ context: Context) { store = context.wires.dataAccessController }

    static func methods(_ table: inout Methods) {
        table.async(\.save) { manager, notes, call in try await manager.store.save(notes, call) }
        table.async(\.all) { manager, _, call in try await manager.store.all(call) }
        table.async(\.count) { manager, _, call in try await manager.store.count(call) }
        table.async(\.deleteAll) { manager, _, call in try await manager.store.deleteAll(call) }
        table.async(\.saveForCall) { manager, notes, call in try await manager.store.saveForCall(notes, call) }
    }
}

private final class NoteStore: DataAccessController {
    typealias Provides = Notebook
    private let store: Store
    private let notes: RecordCollection<Note>

    init(_ context: Context) { (store, notes) = (context.store, context.store.collection()) }

    static func methods(_ table: inout Methods) {
        table.async(\.save) { store, notes, _ in
            try await store.notes.save(notes)
            return Nothing()
        }
        table.async(\.all) { store, _, _ in try await store.notes.all() }
        table.async(\.count) { store, _, _ in try await store.notes.count() }
        table.async(\.deleteAll) { store, _, _ in
            try await store.notes.deleteAll()
            return Nothing()
        }
        table.async(\.saveForCall) { store, notes, call in
            try await store.store.during(call).transaction { transaction in
                try await transaction.collection(Note.self).save(notes)
            }
            _ = try await store.store.during(call).collection(Note.self).count()
            return Nothing()
        }
    }
}
