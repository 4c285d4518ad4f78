import Backplane
import BackplaneRecords
import BackplaneStorage
import Synchronization

/// The host's record store, opened when the first data access controller starts.
final class HostStore: Sendable {
    typealias Opener = @Sendable (StoreSettings) throws -> any RecordStore

    private struct State {
        var settings: StoreSettings
        var store: (any RecordStore)?
        var isBeingOpened = false
        var wasPrepared = false
        var isClosed = false
        /// The requests that wait until the store has been opened, or cannot be.
        var waiting: [UnsafeContinuation<BackplaneError?, Never>] = []
    }
    private let open: Opener
    private let declared = DeclaredCollections()
    private let state: Mutex<State>

    /// Creates a store that is not open.
    ///
    /// - Parameter settings: The settings, which only have an effect until the store is opened.
    init(_ settings: StoreSettings, _ open: @escaping Opener) {
        self.open = open
        state = Mutex(State(settings: settings))
    }

    /// The settings, which only have an effect until the store is opened.
    var settings: StoreSettings {
        get { state.withLock { $0.settings } }
        set { state.withLock { $0.settings = newValue } }
    }

    /// Closes the store for good, as soon as it is no longer in use: the next host of this process needs its file.
    func close() { state.withLock { ($0.store, $0.isClosed) = (nil, true) } }

    /// Whether the store is open or being opened.
    var isOpen: Bool { state.withLock { $0.store != nil || $0.isBeingOpened } }

    var isBeingOpened: Bool { state.withLock { $0.isBeingOpened } }

    /// Opens the store on a separate thread; only the first request does so.
    ///
    /// It is unknown in advance whether a data access controller uses the store, so a failure does not prevent its
    /// start.
    ///
    /// - Parameter failed: A function that is called if the store cannot be opened.
    func prepare(_ failed: @escaping @Sendable (BackplaneError) -> Void) {
        let isNew = state.withLock { state in
            guard !state.wasPrepared, state.store == nil, !state.isBeingOpened else { return false }
            (state.wasPrepared, state.isBeingOpened) = (true, true)
            return true
        }
        if isNew, !HostThread.tryStart("bp-store", { self.finishOpening(orElse: failed) }) { endOpening(.noThread) }
    }

    /// Returns the store; if it cannot be opened, the next call tries again.
    ///
    /// - Throws: `store.unusable` or `store.damaged`; `host.stopped` once it is closed.
    private func get() async throws(BackplaneError) -> any RecordStore {
        while true {
            let (found, isClosed) = state.withLock { ($0.store, $0.isClosed) }
            if let found { return found }
            guard !isClosed else { throw .hostHasStopped }
            let failure = await withUnsafeContinuation { (request: UnsafeContinuation<BackplaneError?, Never>) in
                let isNew = state.withLock { state in
                    defer { state.isBeingOpened = true }
                    state.waiting.append(request)
                    return !state.isBeingOpened
                }
                // Opening may take long, and must not occupy a thread of Swift's pool.
                if isNew, !HostThread.tryStart("bp-store", { self.finishOpening() }) { finishOpening() }
            }
            if let failure { throw failure }
        }
    }

    /// Opens the store, unless it is open, for all waiting callers.
    ///
    /// - Parameter failed: A function that is called with the reason for a failure, before any waiting caller is
    ///   notified.
    private func finishOpening(orElse failed: (BackplaneError) -> Void = { _ in }) {
        do throws(BackplaneError) {
            try openStore()
            endOpening(nil)
        } catch {
            failed(error)
            endOpening(error)
        }
    }

    /// Opens the store; afterwards, only the state refers to it, so that ``close()`` closes it.
    private func openStore() throws(BackplaneError) {
        guard let settings = state.withLock({ $0.store == nil && !$0.isClosed ? $0.settings : nil }) else { return }
        do {
            let store = try open(settings)
            state.withLock { if !$0.isClosed { $0.store = store } }
        } catch {
            throw error as? BackplaneError ?? BackplaneError(.storeUnusable, "the store cannot be opened: \(error)")
        }
    }

    private func endOpening(_ failure: BackplaneError?) {
        let waiting = state.withLock { state in
            state.isBeingOpened = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for request in waiting { request.resume(returning: failure) }
    }

    /// Defines the indexes of a collection that an instance declares, in addition to those declared by other instances.
    ///
    /// - Parameter owner: The handle of the instance.
    func define(_ collection: CollectionDefinition, in namespace: String, by owner: UInt64)
        async throws(BackplaneError)
    {
        try await declared.define(collection, in: namespace, by: owner) { definition throws(BackplaneError) in
            try await self.define(definition, in: namespace)
        }
    }

    /// Removes the indexes that only an ended instance declared.
    func endDeclarations(of owner: UInt64) {
        declared.end(owner) { definition, namespace throws(BackplaneError) in
            guard self.isOpen else { return }
            try await self.define(definition, in: namespace)
        }
    }
}

extension HostStore: RecordStore {
    /// The capabilities of the engine, once it is open.
    var capabilities: StoreCapabilities { state.withLock { $0.store?.capabilities ?? [] } }

    func define(_ collection: CollectionDefinition, in namespace: String) async throws(BackplaneError) {
        try await get().define(collection, in: namespace)
    }

    func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        try await get().write(batch, in: namespace)
    }

    func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        try await get().read(query, in: namespace)
    }

    func count(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> Int {
        try await get().count(query, in: namespace)
    }

    func changes(of collection: String, since number: Int64, limit: Int, in namespace: String)
        async throws(BackplaneError) -> ChangePage
    {
        try await get().changes(of: collection, since: number, limit: limit, in: namespace)
    }

    func waitForChange(of collection: String, since number: Int64, in namespace: String)
        async throws(BackplaneError)
    {
        try await get().waitForChange(of: collection, since: number, in: namespace)
    }

    func namespaces() async throws(BackplaneError) -> [String] { try await get().namespaces() }

    func collections(in namespace: String) async throws(BackplaneError) -> [CollectionSummary] {
        try await get().collections(in: namespace)
    }

    func size(of collection: String, in namespace: String) async throws(BackplaneError) -> Int64 {
        try await get().size(of: collection, in: namespace)
    }

    func findDamage() async throws(BackplaneError) -> [BackplaneError] { try await get().findDamage() }
}

/// The definitions of collections by the instances that declare them.
///
/// In a swap, an old and a new instance may declare different indexes. While both exist, a collection has the indexes
/// of both; once one has ended, it has only the indexes of the other. Changes are made one after another.
final class DeclaredCollections: Sendable {
    fileprivate struct Declaration {
        var owner: UInt64
        var namespace: String
        var definition: CollectionDefinition
    }
    fileprivate struct State {
        /// The declarations, with the latest last.
        var declarations: [Declaration] = []
        /// The last change of indexes that was started.
        var last: Task<Void, Never>?
    }
    private let state = Mutex(State())

    /// Defines the indexes of a collection that an instance declares, in addition to those that others declare.
    func define(
        _ definition: CollectionDefinition, in namespace: String, by owner: UInt64,
        _ apply: @escaping @Sendable (CollectionDefinition) async throws(BackplaneError) -> Void
    ) async throws(BackplaneError) {
        let task = state.withLock { state in
            state.declarations.removeAll { $0.owner == owner && $0.isOf(definition.name, in: namespace) }
            state.declarations.append(Declaration(owner: owner, namespace: namespace, definition: definition))
            return state.enqueue { [self] in await run(definition.name, in: namespace, apply) }
        }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        try result.get()
    }

    /// Removes the declarations of an instance, and the indexes that no other instance declares.
    ///
    /// A collection that no instance declares keeps its indexes.
    func end(
        _ owner: UInt64,
        _ apply:
            @escaping @Sendable (CollectionDefinition, _ namespace: String)
            async throws(BackplaneError) -> Void
    ) {
        state.withLock { state in
            let ended = state.declarations.filter { $0.owner == owner }
            state.declarations.removeAll { $0.owner == owner }
            for declaration in ended
            where state.declarations.contains(where: { $0.isOf(declaration.definition.name, in: declaration.namespace) }
            ) {
                _ = state.enqueue { [self] in
                    await run(declaration.definition.name, in: declaration.namespace) {
                        definition throws(BackplaneError) in
                        try await apply(definition, declaration.namespace)
                    }
                }
            }
        }
    }

    private func run(
        _ name: String, in namespace: String,
        _ apply: @Sendable (CollectionDefinition) async throws(BackplaneError) -> Void
    ) async -> Result<Void, BackplaneError> {
        let definitions = state.withLock { state in
            state.declarations.filter { $0.isOf(name, in: namespace) }.map(\.definition)
        }
        guard !definitions.isEmpty else { return .success(()) }
        var merged = CollectionDefinition(name)
        for index in definitions.reversed().flatMap(\.indexes)
        where !merged.indexes.contains(where: { $0.name.utf8.elementsEqual(index.name.utf8) }) {
            merged.indexes.append(index)
        }
        do throws(BackplaneError) {
            // A single definition is checked as it is, also for two indexes of one name.
            return .success(try await apply(definitions.count == 1 ? definitions[0] : merged))
        } catch {
            return .failure(error)
        }
    }
}

extension DeclaredCollections.Declaration {
    fileprivate func isOf(_ name: String, in namespace: String) -> Bool {
        definition.name.utf8.elementsEqual(name.utf8) && self.namespace == namespace
    }
}

extension DeclaredCollections.State {
    /// Starts a change of indexes once the previous one has ended.
    fileprivate mutating func enqueue(_ change: @escaping @Sendable () async -> Result<Void, BackplaneError>)
        -> Task<Result<Void, BackplaneError>, Never>
    {
        let before = last
        let task = Task {
            await before?.value
            return await change()
        }
        last = Task { _ = await task.value }
        return task
    }
}

extension OfferedServices {
    /// Writes a batch of the component, and logs it with the trace of the call for which it was made.
    func write(_ batch: RecordBatch, for trace: Trace?) async throws(BackplaneError) -> [Int64] {
        do throws(BackplaneError) {
            let numbers = try await store.write(batch, in: namespace)
            note(batch, trace, nil)
            return numbers
        } catch {
            note(batch, trace, error)
            throw error
        }
    }

    private func note(_ batch: RecordBatch, _ trace: Trace?, _ error: BackplaneError?) {
        guard log.isEnabled(.debug) else { return }
        var metadata = [
            "component": name, "changes": "\(batch.changes.count)",
            "collections": Set(batch.changes.map(\.collection)).sorted().joined(separator: ", "),
        ]
        metadata["error"] = error?.code.rawValue
        metadata["trace"] = trace?.id
        log.report(.debug, error == nil ? "records written" : "records not written", metadata)
    }
}
