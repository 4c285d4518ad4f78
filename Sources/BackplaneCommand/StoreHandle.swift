import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneRecords
import BackplaneStorage
import BackplaneTools
import FoundationEssentials

/// The options that choose a store.
struct StoreChoiceArguments: ParsableArguments {
    @Option(help: ArgumentHelp("The path of the running host's control socket.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The manifest whose store to use (default: \(ManifestChoice.text)).", valueName: "manifest"))
    var manifest: String?

    @Option(
        help: ArgumentHelp(
            "The folder in which data access controllers store their data (default: $XDG_STATE_HOME/backplane).",
            valueName: "folder"))
    var data: String?

    /// The words that no other argument takes, such as a manifest.
    @Argument(help: .hidden) var rest: [String] = []

    func validate() throws {
        if let word = rest.first {
            throw ValidationError("unexpected argument `\(word)`; --manifest or --data chooses the store")
        }
        if socket != nil, manifest != nil || data != nil {
            throw ValidationError("--socket chooses the store of a running host; leave out --manifest and --data")
        }
    }

    /// Opens the store directly, or through the host that has it open.
    ///
    /// - Parameters:
    ///   - isWriting: Whether the command changes the store.
    ///   - creates: Whether to create the store if there is none.
    /// - Throws: `store.unusable` if there is no store, or if `isWriting` is set and a process without a control socket
    ///   has the store open; `control.unreachable`.
    func open(isWriting: Bool, creates: Bool = false) throws -> StoreHandle {
        if let socket {
            return .host(ControlClient(try HostChoice(socket: socket).host().socket))
        }
        let manifest = try ManifestChoice.taken(manifest), folder = try folder(of: manifest)
        let exists = FileManager.default.fileExists(atPath: folder + "/store.sqlite")
        // No host would use the store of a misspelt manifest.
        if creates, !exists { _ = try ManifestFile.read(manifest) }
        if creates { try DataFolder(in: data, manifest: manifest).make(.store) }
        for host in HostChoice.all(running: manifest) where host.greeting?.requests.contains(StoreRequest.name) == true
        {
            let client = ControlClient(host.socket)
            if try client.ask(StoreRequest(.list)).folder == folder { return .host(client) }
        }
        guard creates || exists else {
            throw BackplaneError(
                .storeUnusable,
                "there is no store yet; a host creates it when a data access controller first uses it. --data names another data folder",
                at: folder)
        }
        return .file(try Engines.openFile(folder, isWriting: isWriting))
    }

    private func folder(of manifest: String) throws(BackplaneError) -> String {
        try DataFolder(in: data, manifest: manifest).path(of: .store)
    }

    /// Opens the store, runs an operation on it, and prints the operation's error.
    func use(isWriting: Bool = false, _ body: (StoreHandle) async throws(BackplaneError) -> Int32) async -> Int32 {
        do {
            return try await body(try open(isWriting: isWriting, creates: isWriting))
        } catch let refusal as HostChoice.Refusal {
            return refusal.report()
        } catch let misuse as ValidationError {
            return Output.refuse(misuse.message)
        } catch {
            return Output.fail(error)
        }
    }
}

/// An open store.
enum StoreHandle: Sendable {
    case file(any RecordStore)
    case host(ControlClient)

    private func answer(to request: StoreRequest) async throws(BackplaneError) -> StoreRequest.Answer {
        switch self {
        case .file(let store): try await request.answer(from: store)
        case .host(let host): try host.ask(request)
        }
    }

    /// Returns the collections.
    ///
    /// - Parameter sizes: Whether to count the bytes of their records.
    func list(sizes: Bool = false) async throws(BackplaneError) -> [StoreCollection] {
        var request = StoreRequest(.list)
        request.sizes = sizes
        return try await answer(to: request).collections ?? []
    }

    /// Returns a page of a collection, or only the record with an id.
    func read(_ collection: String, in namespace: String, id: String? = nil, after: PageCursor? = nil)
        async throws(BackplaneError) -> RecordPage
    {
        var request = StoreRequest(.read)
        (request.namespace, request.collection, request.id) = (namespace, collection, id)
        (request.after, request.limit) = (after?.bytes, 500)
        let answer = try await answer(to: request)
        var page = RecordPage(records: [])
        for form in answer.records ?? [] { page.records.append(try form.record()) }
        page.next = answer.next.map { PageCursor(bytes: $0) }
        return page
    }

    func add(_ definition: CollectionDefinition, in namespace: String) async throws(BackplaneError) {
        var request = StoreRequest(.define)
        (request.namespace, request.collection) = (namespace, definition.name)
        request.indexes = definition.indexes
        _ = try await answer(to: request)
    }

    func restore(
        _ records: [(collection: String, record: StoredRecord)], overwriting isOverwriting: Bool, in namespace: String
    ) async throws(BackplaneError) {
        var request = StoreRequest(.write)
        (request.namespace, request.overwrites) = (namespace, isOverwriting)
        request.records = records.map { StoreRequest.Record(collection: $0.collection, $0.record) }
        _ = try await answer(to: request)
    }

    func findDamage() async throws(BackplaneError) -> [BackplaneError] {
        try await answer(to: StoreRequest(.check)).damage ?? []
    }

    /// Calls a function with all records of the given collections, page by page.
    func forEachPage(
        of collections: [StoreCollection], _ progress: CountingLine,
        _ body: (StoreCollection, RecordPage) throws(BackplaneError) -> Void
    ) async throws(BackplaneError) {
        for collection in collections {
            var cursor: PageCursor?
            repeat {
                let page = try await read(collection.collection, in: collection.namespace, after: cursor)
                try body(collection, page)
                progress.add(page.records.count)
                cursor = page.next
            } while cursor != nil
        }
    }
}

/// A progress counter on standard error, shown only at a terminal.
final class CountingLine {
    private let doing: String
    private let total: Int?
    private let line = ProgressLine()
    private(set) var count = 0
    private var shown = ContinuousClock.now

    init(_ doing: String, of total: Int? = nil) { (self.doing, self.total) = (doing, total) }

    func add(_ more: Int) {
        count += more
        guard ContinuousClock.now - shown > .milliseconds(200) else { return }
        shown = .now
        line.showFitting("\(doing) \(count)" + (total.map { " of \($0)" } ?? "") + " records")
    }

    func clear() { line.clear() }
}
