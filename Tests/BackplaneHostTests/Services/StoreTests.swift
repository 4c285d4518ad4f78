import Backplane
import BackplaneStorage
import Testing

@testable import BackplaneHost

/// The record store as a data access controller uses it, through the boundary.
@Suite(.timeLimit(.minutes(5)))
struct StoreTests {
    private func withNotes(
        _ store: any RecordStore = MemoryRecordStore(),
        _ body: (Remote<Notebook>, Remote<Notebook>) async throws -> Void
    ) async throws {
        let folder = try LoadingFixture.Folder()
        func notebook(_ namespace: String) -> ManagerDefinition {
            ManagerDefinition(
                className: "NotebookManager",
                dataAccessController: DataAccessControllerDefinition(className: "NoteStore", namespace: namespace))
        }
        let host = PluginHost(
            manifest: Manifest(plugins: [], managers: ["First": notebook("first"), "Second": notebook("second")]),
            plugins: [NotebookPlugin.self],
            options: HostOptions(dataFolder: folder.path, openStore: { _, _, _ in store }))
        try await body(try await host.manager("First"), try await host.manager("Second"))
        await host.stop()
    }

    private let notes = [
        Note(id: "b", text: "second"), Note(id: "a", text: "first"), Note(id: "c", text: "third \u{1F40B}"),
    ]

    @Test func `what is saved is there, in the order of its ids`() async throws {
        try await withNotes { notebook, _ in
            _ = try await notebook.save(notes)
            #expect(try await notebook.all() == [notes[1], notes[0], notes[2]])
            #expect(try await notebook.fetch("c") == notes[2])
            #expect(try await notebook.fetch("d") == nil)
            #expect(try await notebook.count() == 3)
            #expect(try await notebook.page([1, 1]) == [notes[0]])
        }
    }

    @Test func `records are deleted, one or all, and replaced together`() async throws {
        try await withNotes { notebook, _ in
            _ = try await notebook.save(notes)
            _ = try await notebook.delete("a")
            #expect(try await notebook.count() == 2)
            _ = try await notebook.replaceAll([notes[1]])
            #expect(try await notebook.all() == [notes[1]])
            _ = try await notebook.deleteAll()
            #expect(try await notebook.all() == [])
        }
    }

    @Test func `two data access controllers do not see each other's records`() async throws {
        try await withNotes { first, second in
            _ = try await first.save(notes)
            #expect(try await second.all() == [])
            _ = try await second.deleteAll()
            #expect(try await first.count() == 3)
        }
    }

    @Test(arguments: ["", "a\u{0}b"]) func `an id that a store would take for another is refused`(id: String)
        async throws
    {
        try await withNotes { notebook, _ in
            let refused = await error { try await notebook.save([Note(id: id, text: "")]) }
            #expect(refused?.code == .callInvalidInput)
            let count = try await notebook.count()
            #expect(count == 0)
        }
    }

    @Test func `many records are saved at once`() async throws {
        try await withNotes { notebook, _ in
            _ = try await notebook.save((0..<70_000).map { Note(id: "\($0)", text: "") })
            #expect(try await notebook.count() == 70_000)
        }
    }

    @Test func `a record that is something else is an error that names it`() async throws {
        let store = MemoryRecordStore()
        try await store.write(
            [.save(collection: "Note", StoredRecord(id: "x", value: Array(#"{"id":"x","text":3}"#.utf8)))], in: "first")
        try await withNotes(store) { notebook, _ in
            let found = await error { try await notebook.fetch("x") }
            #expect(found?.code == .storeUndecodable)
            #expect(found?.location == "Note/x/text")
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
    let replaceAll = AsyncMethod<[Note], Nothing>()
    let fetch = AsyncMethod<String, Note?>()
    let all = AsyncMethod<Nothing, [Note]>()
    /// An offset and a limit.
    let page = AsyncMethod<[Int], [Note]>()
    let count = AsyncMethod<Nothing, Int>()
    let delete = AsyncMethod<String, Nothing>()
    let deleteAll = AsyncMethod<Nothing, Nothing>()
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
        table.async(\.replaceAll) { manager, notes, call in try await manager.store.replaceAll(notes, call) }
        table.async(\.fetch) { manager, id, call in try await manager.store.fetch(id, call) }
        table.async(\.all) { manager, _, call in try await manager.store.all(call) }
        table.async(\.page) { manager, page, call in try await manager.store.page(page, call) }
        table.async(\.count) { manager, _, call in try await manager.store.count(call) }
        table.async(\.delete) { manager, id, call in try await manager.store.delete(id, call) }
        table.async(\.deleteAll) { manager, _, call in try await manager.store.deleteAll(call) }
    }
}

private final class NoteStore: DataAccessController {
    typealias Provides = Notebook
    private let notes: RecordCollection<Note>

    init(_ context: Context) { notes = context.store.collection() }

    static func methods(_ table: inout Methods) {
        table.async(\.save) { store, notes, _ in
            try await store.notes.save(notes)
            return Nothing()
        }
        table.async(\.replaceAll) { store, notes, _ in
            try await store.notes.replaceAll(with: notes)
            return Nothing()
        }
        table.async(\.fetch) { store, id, _ in try await store.notes.fetch(id) }
        table.async(\.all) { store, _, _ in try await store.notes.all() }
        table.async(\.page) { store, page, _ in try await store.notes.all(offset: page[0], limit: page[1]) }
        table.async(\.count) { store, _, _ in try await store.notes.count() }
        table.async(\.delete) { store, id, _ in
            try await store.notes.delete(id)
            return Nothing()
        }
        table.async(\.deleteAll) { store, _, _ in
            try await store.notes.deleteAll()
            return Nothing()
        }
    }
}
