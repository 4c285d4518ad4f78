public import Backplane
public import BackplaneExchange
public import BackplaneNetwork
public import BackplaneRecords
import BackplaneStorage
import FoundationEssentials
import Synchronization

/// The downloads and uploads of a host or a program, by id, which continue after a restart.
///
/// ```swift
/// let pool = try await TransferPool(HTTPPipeline([AsyncHTTPClientExecutor()]), store: store)
/// try await pool.begin(Transfer("books/whale.epub", .download(HTTPRequest("GET", url), to: "/data/whale.epub")))
/// for await state in try await pool.states(of: "books/whale.epub") { print(state.progress ?? 0) }
/// ```
///
/// When a call returns, its change is in the store, in the namespace `@transfers`. A pool that is created with the same
/// store continues all open transfers. With an in-memory store, the transfers end with the process, but a later
/// download to the same file still continues from the partial file.
///
/// A namespace of a store belongs to one pool at a time.
public final class TransferPool: Sendable {
    struct State {
        var table: TransferTable
        var tasks: [ExactText: Task<Void, Never>] = [:]
        var watchers: [ExactText: [Int: AsyncStream<TransferState>.Continuation]] = [:]
        var lastWatcher = 0
        /// A Boolean value that indicates whether the pool has stopped, so that no state changes any longer.
        var hasStopped = false
        /// The number of transfers that are being removed from the store.
        var removing = 0
    }
    /// The namespace of the store reserved for the pool.
    public static let namespace = "@transfers"
    /// The maximum number of bytes of an upload's body in memory; larger bodies have to be in files.
    public static let bodyLimit = 16 << 20

    let means: TransferMeans
    let store: any RecordStore
    private let persists: @Sendable () -> Bool
    let state: Mutex<State>
    private let report: @Sendable (BackplaneError) -> Void
    private let writer = Mutex<TransferWriter?>(nil)

    /// Creates a pool, and continues the open transfers in its store.
    ///
    /// - Parameters:
    ///   - network: The transport of its exchanges.
    ///   - store: The store for the states; by default one in memory.
    ///   - options: The settings.
    ///   - retries: The clock and the random numbers for delays.
    ///   - report: A function that receives errors about states that cannot be read or written.
    /// - Throws: `store.unusable` and other codes of the store.
    public convenience init(
        _ network: HTTPPipeline, store: any RecordStore = MemoryRecordStore(),
        options: TransferOptions = TransferOptions(), retries: Retries = Retries(),
        report: @escaping @Sendable (BackplaneError) -> Void = { _ in }
    ) async throws(BackplaneError) {
        try await self.init(
            pipeline: { _ in network }, store: store, persists: { !(store is MemoryRecordStore) }, options: options,
            retries: retries, report: report)
    }

    /// Creates a pool in which each exchange may use a different pipeline, and continues the transfers in its store.
    package init(
        pipeline: @escaping @Sendable (Transfer) throws(BackplaneError) -> HTTPPipeline, store: any RecordStore,
        persists: @escaping @Sendable () -> Bool,
        options: TransferOptions = TransferOptions(),
        retries: Retries = Retries(), report: @escaping @Sendable (BackplaneError) -> Void
    ) async throws(BackplaneError) {
        means = TransferMeans(pipeline: pipeline, options: options, retries: retries)
        (self.store, self.persists, self.report) = (store, persists, report)
        try await TransferRecords.define(in: store)
        let last = try await TransferRecords.lastNumber(in: store)
        state = Mutex(State(table: TransferTable(options, lastNumber: last)))
        let writer = TransferWriter(
            store, Self.namespace, changes: { [weak self] in self?.changes($0, $1) },
            written: { [weak self] in self?.written($0) }, report: report)
        self.writer.withLock { $0 = writer }
        for (form, transfer) in try await TransferRecords.open(in: store, report) {
            change { $0.restore(form, transfer) }
        }
    }

    /// A Boolean value that indicates whether transfers survive the end of the process.
    public var isPersistent: Bool { persists() }

    /// The number of transfers in memory, which does not include finished ones.
    package var transfersInMemory: Int { state.withLock { $0.table.entries.count } }

    // MARK: Beginning

    /// Starts a transfer, or returns the state of an identical one with the same id.
    ///
    /// A transfer that is paused, waits for credentials, has failed or was cancelled is resumed.
    ///
    /// - Throws: `transfer.taken` if another transfer has the id, or downloads to the same file; `transfer.refused` for
    ///   an empty id, a streamed body, a URL with credentials, or a digest of another length; `store.unusable`.
    @discardableResult
    public func begin(_ transfer: Transfer) async throws(BackplaneError) -> TransferState {
        let transfer = try transfer.admitted(), key = ExactText(transfer.id)
        let departures = state.withLock { $0.table.beginReading(key) }
        defer {
            change { table in
                table.endReading(key)
                table.forget(key)
            }
        }
        return try await begin(transfer, key, departures)
    }

    private func begin(
        _ transfer: Transfer, _ key: ExactText, _ first: Int
    ) async throws(BackplaneError) -> TransferState {
        var departures = first
        while true {
            let exists = try await load(key)
            if exists { await ended(key) }
            var begun: TransferState?
            try change { table throws(BackplaneError) in
                if let found = table.entries[key] {
                    guard found.isSame(as: transfer) else {
                        throw BackplaneError(
                            .transferTaken, "another transfer has this id; remove it first, or use another id",
                            at: transfer.id.shownID)
                    }
                    try table.resume(key, with: transfer)
                } else if !exists, table.departures(of: key) == departures {
                    try table.add(transfer)
                }
                departures = table.departures(of: key)
                begun = table.entries[key]?.state
            }
            // It has ended and left the memory meanwhile, and is loaded again.
            guard let begun else { continue }
            try await settle()
            return begun
        }
    }

    /// Starts a transfer, even if its id belongs to one that has succeeded, or to a different one that has ended.
    ///
    /// - Throws: The errors of ``begin(_:)``.
    package func beginAgain(_ transfer: Transfer) async throws(BackplaneError) -> TransferState {
        let admitted = try transfer.admitted(), key = ExactText(transfer.id)
        if try await load(key), let last = state.withLock({ $0.table.entries[key] }),
            last.state.phase == .succeeded || last.state.phase.isFinal && !last.transfer.isSame(as: admitted)
        {
            try await remove(transfer.id)
        }
        return try await begin(transfer)
    }

    // MARK: Changing

    /// Pauses a transfer, and waits until it has stopped and its bytes are on the disk.
    ///
    /// - Throws: `transfer.unknown`; `store.unusable`.
    public func pause(_ id: String) async throws(BackplaneError) {
        try await change(id) { $0.pause($1) }
    }

    /// Resumes a paused or failed transfer: a download from where it was interrupted, an upload from the beginning.
    ///
    /// - Throws: `transfer.unknown`; `transfer.taken` if another transfer now downloads to the same file;
    ///   `store.unusable`.
    public func resume(_ id: String) async throws(BackplaneError) {
        try await change(id, waitsFirst: true) { table, key throws(BackplaneError) in try table.resume(key) }
    }

    /// Continues the transfers that wait for the sign-in of an account of a credential.
    package func signedIn(_ credential: String, account: String) {
        change { $0.resumeWaiting(for: credential, account: account) }
    }

    /// Cancels a transfer that has not succeeded, and removes its partial file.
    ///
    /// - Throws: `transfer.unknown`; `store.unusable`.
    public func cancel(_ id: String) async throws(BackplaneError) {
        try await change(id) { $0.cancel($1) }
    }

    /// Cancels a transfer unless it is finished, and removes it from the pool; a finished file remains.
    ///
    /// - Throws: `transfer.unknown`; `store.unusable`.
    public func remove(_ id: String) async throws(BackplaneError) {
        let key = ExactText(id)
        // Another task may begin it again meanwhile.
        while true {
            try await cancel(id)
            if takeOut(key) { break }
        }
        defer { state.withLock { $0.removing -= 1 } }
        try await settle()
    }

    /// Removes a transfer from memory, schedules its removal from the store and ends its sequences; returns `false` if
    /// it is not finished.
    private func takeOut(_ key: ExactText) -> Bool {
        let watchers = state.withLock { state -> [AsyncStream<TransferState>.Continuation]? in
            guard state.table.entries[key]?.state.phase.isFinal ?? true, state.table.remove(key) else { return nil }
            state.removing += 1
            note(key, .removal)
            return state.watchers.removeValue(forKey: key).map { Array($0.values) } ?? []
        }
        for watcher in watchers ?? [] { watcher.finish() }
        return watchers != nil
    }

    /// Removes all finished transfers from the pool; their files remain.
    ///
    /// - Returns: Their number.
    @discardableResult
    public func clear() async throws(BackplaneError) -> Int {
        try await settle()
        state.withLock { $0.removing += 1 }
        defer { state.withLock { $0.removing -= 1 } }
        var count = 0
        try await TransferRecords.readFinished(in: store) { [self] ids async throws(BackplaneError) in
            count += state.withLock { state in
                ids.map { ExactText($0) }.count { key in
                    guard state.table.entries[key] == nil else { return false }
                    state.table.remove(key)
                    note(key, .removal)
                    return true
                }
            }
            try await settle()
        }
        return count
    }

    /// Ends all runs, and waits until their states are stored; a pool with the same store continues them.
    public func stop() async {
        change { $0.stop() }
        while let task = state.withLock({ $0.tasks.values.first }) { await task.value }
        try? await settle()
        let watched = state.withLock { state in
            state.hasStopped = true
            return Array(state.watchers.keys)
        }
        for key in watched { finishWatchers(of: key) }
    }

    /// Changes a transfer, and waits until its state is stored and, if requested, its run has ended.
    private func change(
        _ id: String, waitsFirst: Bool = false,
        _ change: (inout TransferTable, ExactText) throws(BackplaneError) -> Void
    ) async throws(BackplaneError) {
        let key = ExactText(id)
        defer { self.change { $0.forget(key) } }
        var isThere = false
        repeat {
            guard try await load(key) else { throw .unknownTransfer(id) }
            if waitsFirst { await ended(key) }
            try self.change { table throws(BackplaneError) in
                // One that has ended may have left the memory meanwhile.
                isThere = table.entries[key] != nil
                if isThere { try change(&table, key) }
            }
        } while !isThere
        await ended(key)
        try await settle()
    }

    /// Waits until an ending run has ended.
    private func ended(_ key: ExactText) async {
        let task = state.withLock { state in
            state.table.entries[key]?.wish == nil ? nil : state.tasks[key]
        }
        await task?.value
    }

    // MARK: The table and its effects

    /// Changes the table, and performs the effects.
    func change<Failure>(_ change: (inout TransferTable) throws(Failure) -> Void) throws(Failure) {
        var failure: Failure?
        let (stopped, finished) = state.withLock { state in
            do throws(Failure) { try change(&state.table) } catch { failure = error }
            return apply(&state)
        }
        for task in stopped { task.cancel() }
        for watcher in finished { watcher.finish() }
        if let failure { throw failure }
    }

    /// Starts runs, schedules the writing of states and notifies watchers; requires the lock.
    ///
    /// - Returns: The tasks to cancel, and the finished watchers.
    private func apply(_ state: inout State) -> ([Task<Void, Never>], [AsyncStream<TransferState>.Continuation]) {
        var stopped: [Task<Void, Never>] = [], finished: [AsyncStream<TransferState>.Continuation] = []
        for effect in state.table.takeEffects() {
            switch effect {
            case .start(let key): state.tasks[key] = Task { await run(key) }
            case .stop(let key): if let task = state.tasks[key] { stopped.append(task) }
            case .ended(let key): state.tasks[key] = nil
            // Before a watcher is told, so that whoever knows of a state can wait until it is stored.
            case .save(let key): note(key, .saving)
            case .tell(let key):
                guard let watchers = state.watchers[key], let now = state.table.entries[key]?.state else { continue }
                for watcher in watchers.values { watcher.yield(now) }
                if now.phase.isFinal {
                    finished += watchers.values
                    state.watchers[key] = nil
                }
            }
        }
        return (stopped, finished)
    }

    private func run(_ key: ExactText) async {
        guard let entry = state.withLock({ $0.table.entries[key] }) else { return }
        let outcome: TransferTable.Outcome
        do {
            switch entry.transfer.work {
            case _ where entry.wish == .cancel: outcome = .ended
            case .download(let request, let target, let settings):
                outcome = .downloaded(
                    try await DownloadRun(
                        request: request, target: target, settings: settings, transfer: entry.transfer,
                        network: try means.pipeline(entry.transfer), means: means, report: reporter(key),
                        saved: { [weak self] in try? await self?.settle() }
                    ).run())
            case .upload(let request):
                outcome = .uploaded(
                    try await UploadRun(
                        request: request, transfer: entry.transfer, network: try means.pipeline(entry.transfer),
                        means: means, report: reporter(key)
                    ).run())
            }
            await end(key, outcome)
        } catch is CancellationError {
            await end(key, .ended)
        } catch {
            await end(key, .failed(BackplaneError(thrown: error)))
        }
    }

    private func reporter(_ key: ExactText) -> @Sendable (TransferNews) -> Void {
        { [weak self, retries = means.retries] news in
            self?.change { $0.note(news, of: key, at: retries.elapsed) }
        }
    }

    private func end(_ key: ExactText, _ outcome: TransferTable.Outcome) async {
        var isPartRemoved = false, hasEnded = false
        while !hasEnded {
            if let target = partToRemove(state.withLock { $0.table.entries[key] }, after: outcome) {
                try? await means.onDisk { () throws(BackplaneError) in try PartFile(target: target).remove() }
                isPartRemoved = true
            }
            change { table in
                // It may be cancelled at this moment.
                guard isPartRemoved || partToRemove(table.entries[key], after: outcome) == nil else { return }
                table.ended(key, outcome)
                hasEnded = true
            }
        }
    }

    /// Returns the target of a cancelled download, whose part is removed before it ends.
    private func partToRemove(_ entry: TransferTable.Entry?, after outcome: TransferTable.Outcome) -> String? {
        entry?.wish == .cancel && !outcome.isSuccess ? entry?.transfer.target : nil
    }

    // MARK: The store

    /// Loads a transfer into the table, if it exists.
    ///
    /// - Returns: Whether the transfer exists.
    func load(_ key: ExactText) async throws(BackplaneError) -> Bool {
        while true {
            let (isLoaded, isRemoving, departures) = state.withLock { state in
                (state.table.entries[key] != nil, state.removing > 0, state.table.beginReading(key))
            }
            defer { state.withLock { $0.table.endReading(key) } }
            if isLoaded { return true }
            // A record that is being removed must not be found any more.
            if isRemoving { try await settle() }
            guard let (form, transfer) = try await TransferRecords.find(key.text, in: store) else { return false }
            var isLast = false
            change { table in
                isLast = table.entries[key] != nil || table.departures(of: key) == departures
                if isLast, table.entries[key] == nil { table.restore(form, transfer) }
            }
            // It may have ended meanwhile, or been removed.
            if isLast { return true }
        }
    }

    private func note(_ key: ExactText, _ note: TransferWriter.Note) {
        writer.withLock { $0 }?.note(key, note)
    }

    private func settle() async throws(BackplaneError) { try await writer.withLock { $0 }?.settle() }

    private func changes(_ key: ExactText, _ note: TransferWriter.Note) -> TransferWriter.Changes? {
        guard let entry = state.withLock({ $0.table.entries[key] }) else {
            return note == .removal ? TransferWriter.Changes(records: TransferRecords.removal(of: key.text)) : nil
        }
        return TransferWriter.Changes(
            records: TransferRecords.saving(entry, withRequest: !entry.isRequestSaved), revision: entry.revision,
            request: entry.isRequestSaved ? nil : entry.requestRevision)
    }

    /// Removes finished transfers from memory, because they are in the store.
    private func written(_ changes: [(ExactText, TransferWriter.Changes)]) {
        change { table in
            for (key, written) in changes {
                table.saved(key, written.revision, request: written.request)
                table.forget(key)
            }
        }
    }
}

extension TransferTable.Outcome {
    fileprivate var isSuccess: Bool {
        if case .downloaded = self { true } else { false }
    }
}
