public import Backplane
public import BackplaneExchange
public import BackplaneNetwork
public import BackplaneRecords
public import BackplaneStorage
import Dispatch
import FoundationEssentials
import Synchronization

/// The settings of a pool: the limits for concurrent transfers, and for each exchange.
public struct TransferOptions: Sendable {
    /// The maximum number of concurrent transfers.
    public var concurrent = 16
    /// The maximum number of concurrent transfers with one host.
    public var concurrentPerHost = 6
    /// The retry policy of a transfer; a download continues where the last attempt ended.
    ///
    /// An attempt that received 64 KB resets the count, except after a restart. Other attempts are taken from the
    /// host's budget, as for all exchanges. An upload is attempted again only if its method is idempotent, or the
    /// policy allows any method.
    public var retry = RetryPolicy(attempts: 5)
    /// The maximum number of redirects that an exchange follows.
    public var redirects = 10
    /// The time without a byte in either direction after which an attempt ends.
    public var idleLimit: Duration = .seconds(60)

    /// Creates settings with 16 concurrent transfers, 6 for each host, 5 attempts and an idle limit of a minute.
    public init() {}
}

/// The downloads and uploads of a host or a program, by id, which continue after a restart.
///
/// ```swift
/// let pool = try await TransferPool(HTTPPipeline([AsyncHTTPClientExecutor()]), store: store)
/// try await pool.begin(Transfer("books/whale.epub", download: url, to: "/data/whale.epub"))
/// for try await state in pool.states(of: "books/whale.epub") { print(state.progress ?? 0) }
/// ```
///
/// When a call returns, its change is in the store, in the namespace `@transfers`. A pool that is created with the same
/// store continues all open transfers. With an in-memory store, the transfers end with the process, but a later
/// download to the same file still continues from the partial file.
///
/// A namespace of a store belongs to one pool at a time.
public final class TransferPool: TransferWay, Sendable {
    private struct State {
        var table: TransferTable
        var tasks: [ExactText: Task<Void, Never>] = [:]
        var watchers: [ExactText: [Int: AsyncStream<Void>.Continuation]] = [:]
        var lastWatcher = 0
        var hasStopped = false
        /// The commands that wait for the end of another command for the same transfer.
        var commands: [ExactText: [CheckedContinuation<Void, Never>]] = [:]
        /// The scheduled write of states, and the latest write.
        var scheduledWrite: Task<BackplaneError?, Never>?, lastWrite: Task<BackplaneError?, Never>?
    }
    /// The namespace of the store reserved for the pool.
    public static let namespace = "@transfers"
    /// The maximum number of bytes of an upload's body in memory; larger bodies have to be in files.
    public static let bodyLimit = 16 << 20

    private let pipeline: @Sendable (Transfer) throws(BackplaneError) -> HTTPPipeline
    private let options: TransferOptions
    private let retries: Retries
    private let disk = DispatchQueue(label: "bp-transfers", attributes: .concurrent)
    private let records: TransferRecords
    private let report: @Sendable (BackplaneError) -> Void
    private let state: Mutex<State>

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
            pipeline: { _ in network }, store: store, options: options, retries: retries, report: report)
    }

    /// Creates a pool in which each exchange may use a different pipeline, and continues the transfers in its store.
    package init(
        pipeline: @escaping @Sendable (Transfer) throws(BackplaneError) -> HTTPPipeline, store: any RecordStore,
        options: TransferOptions = TransferOptions(),
        retries: Retries = Retries(), report: @escaping @Sendable (BackplaneError) -> Void
    ) async throws(BackplaneError) {
        (self.pipeline, self.options, self.retries) = (pipeline, options, retries)
        (records, self.report) = (TransferRecords(store: store), report)
        state = Mutex(State(table: TransferTable(options, lastNumber: try await records.define())))
        for entry in try await records.open(report) { change { $0.restore(entry) } }
    }

    /// A client of the pool, like the client of a component, for code that works with both.
    public var client: TransferClient { TransferClient(self) }

    // MARK: Commands

    /// Starts a transfer, or returns the state of an identical one with the same id.
    ///
    /// A transfer that is paused, waits for credentials, has failed or was cancelled is resumed.
    ///
    /// - Throws: `transfer.taken` if another transfer has the id, or downloads to the same file; `transfer.refused` for
    ///   an empty id, a streamed body, a URL with credentials, or a digest of another length; `store.unusable`.
    @discardableResult
    public func begin(_ transfer: Transfer) async throws(BackplaneError) -> TransferState {
        try await begin(transfer, again: false)
    }

    /// Starts a transfer.
    ///
    /// - Parameter again: Whether to start the transfer even if its id belongs to a transfer that has succeeded, or to
    ///   a different one that has ended.
    package func begin(_ transfer: Transfer, again: Bool) async throws(BackplaneError) -> TransferState {
        let transfer = try transfer.admitted(), key = ExactText(transfer.id)
        return try await command(key) { () throws(BackplaneError) in
            _ = try await load(key)
            var begun: TransferState?
            try change { table throws(BackplaneError) in
                try table.begin(transfer, again: again)
                begun = table.entries[key]?.state
            }
            try await settle()
            return begun ?? TransferState(id: transfer.id, owner: transfer.owner, isUpload: transfer.target == nil)
        }
    }

    /// Pauses a transfer, and waits until it has stopped and its bytes are on the disk.
    public func pause(_ id: String) async throws(BackplaneError) { try await change(.pause, id) }

    /// Resumes a paused or failed transfer: a download from where it was interrupted, an upload from the beginning.
    public func resume(_ id: String) async throws(BackplaneError) { try await change(.resume, id) }

    /// Cancels a transfer that has not succeeded, and removes its partial file.
    public func cancel(_ id: String) async throws(BackplaneError) { try await change(.cancel, id) }

    /// Cancels a transfer unless it is finished, and removes it from the pool; a finished file remains.
    public func remove(_ id: String) async throws(BackplaneError) { try await change(.remove, id) }

    /// Changes a transfer, waits for the end of its run if the change ends the run, and waits until its state is
    /// stored.
    package func change(_ change: TransferChange, _ id: String) async throws(BackplaneError) {
        let key = ExactText(id)
        try await command(key) { () throws(BackplaneError) in
            guard try await load(key) else { throw .unknownTransfer(id) }
            try self.change { table throws(BackplaneError) in
                switch change {
                case .pause: table.pause(key)
                case .resume: try table.resume(key)
                case .cancel, .remove: table.cancel(key)
                }
            }
            await state.withLock { $0.table.entries[key]?.wish == nil ? nil : $0.tasks[key] }?.value
            if change == .remove { self.change { $0.remove(key) } }
            try await settle()
        }
    }

    /// Removes all finished transfers from the pool; their files remain.
    ///
    /// - Returns: Their number.
    @discardableResult
    public func clear() async throws(BackplaneError) -> Int {
        try await settle()
        var count = 0, cursor: PageCursor?
        repeat {
            let page = try await records.finished(after: cursor)
            for key in page.ids.map({ ExactText($0) }) {
                await command(key) {
                    change { table in
                        guard table.entries[key] == nil, !table.isRemoved(key) else { return }
                        table.remove(key)
                        count += 1
                    }
                }
            }
            cursor = page.next
        } while cursor != nil
        try await settle()
        return count
    }

    package func signedIn(_ credential: String, account: String) {
        change { $0.resumeWaiting(for: credential, account: account) }
    }

    /// Ends all runs, and waits until their states are stored; a pool with the same store continues them.
    public func stop() async {
        change { $0.stop() }
        while let task = state.withLock({ $0.tasks.values.first }) { await task.value }
        try? await settle()
        state.withLock { state in
            state.hasStopped = true
            for watcher in state.watchers.values.flatMap(\.values) { watcher.finish() }
        }
    }

    /// Performs a command once no other command for the same transfer is in progress.
    private func command<Value, Failure>(
        _ key: ExactText, _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await withCheckedContinuation { continuation in
            let isNext = state.withLock { state in
                let isNext = state.table.hold(key)
                if !isNext { state.commands[key, default: []].append(continuation) }
                return isNext
            }
            if isNext { continuation.resume() }
        }
        defer {
            let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
                if let next = state.commands[key]?.first {
                    state.commands[key]?.removeFirst()
                    return next
                }
                state.commands[key] = nil
                state.table.release(key)
                return nil
            }
            next?.resume()
        }
        return try await body()
    }

    /// Loads a transfer into the table for a command, and returns whether it exists.
    private func load(_ key: ExactText) async throws(BackplaneError) -> Bool {
        let isKnown = state.withLock { state in
            state.table.entries[key] != nil ? true : state.table.isRemoved(key) ? false : nil
        }
        if let isKnown { return isKnown }
        guard let entry = try await records.find(key.text) else { return false }
        change { $0.restore(entry) }
        return true
    }

    // MARK: States

    /// Returns the current state of the transfer with an id.
    ///
    /// - Throws: `transfer.unknown`; `store.unusable`.
    public func state(of id: String) async throws(BackplaneError) -> TransferState {
        guard let state = try await known(ExactText(id)) else { throw .unknownTransfer(id) }
        return state
    }

    /// Returns the states of a transfer as a sequence, like those of ``TransferClient``.
    ///
    /// If no transfer has the id, the sequence waits for one, so that code can subscribe before the transfer begins.
    public func states(of id: String) -> TransferStates { client.states(of: id) }

    /// Waits for the state of a transfer to differ from the one that a reader has, and returns it.
    package func state(of id: String, after number: UInt64?) async throws(BackplaneError) -> TransferState {
        guard let number else { return try await state(of: id) }
        let key = ExactText(id)
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watcher = state.withLock { state in
            if state.hasStopped { signal.finish() }
            state.lastWatcher += 1
            state.watchers[key, default: [:]][state.lastWatcher] = signal
            return state.lastWatcher
        }
        defer {
            state.withLock { state in
                state.watchers[key]?[watcher] = nil
                if state.watchers[key]?.isEmpty == true { state.watchers[key] = nil }
            }
        }
        var changes = signals.makeAsyncIterator()
        repeat {
            if let state = try await known(key) {
                if state.number != number || state.phase.isFinal { return state }
            } else if number > 0 {
                throw .unknownTransfer(id)
            }
        } while await changes.next() != nil
        if Task.isCancelled { throw BackplaneError(.callCancelled, "the wait for a transfer was cancelled") }
        throw BackplaneError(.hostStopped, "the pool of transfers has stopped")
    }

    /// Returns the current state of a transfer, or `nil` if there is none.
    private func known(_ key: ExactText) async throws(BackplaneError) -> TransferState? {
        while true {
            let (state, isRemoved) = state.withLock { ($0.table.entries[key]?.state, $0.table.isRemoved(key)) }
            if state != nil || isRemoved { return state }
            let stored = try await records.find(key.text)?.state
            // An open transfer would be in the table, so this one was restarted or has ended in the meantime.
            if stored?.phase.isFinal != false { return stored }
        }
    }

    /// Returns a page of transfers in the order in which they were started.
    ///
    /// - Parameters:
    ///   - isOpen: Whether only unfinished transfers are returned, or only finished ones; by default all.
    ///   - limit: The maximum number of transfers.
    ///   - cursor: The end of the last page.
    /// - Returns: The states, and the cursor of the next page; `nil` after the last one.
    /// - Throws: `store.unusable`.
    public func transfers(
        isOpen: Bool? = nil, limit: Int = 1_000, after cursor: PageCursor? = nil
    ) async throws(BackplaneError) -> (states: [TransferState], next: PageCursor?) {
        let page = try await records.page(isOpen: isOpen, limit: limit, after: cursor)
        var states: [TransferState] = []
        for found in page.states {
            // The transfer may have changed, or been removed, since its record was read.
            guard let latest = try await known(ExactText(found.id)) else { continue }
            if isOpen == true, latest.phase.isFinal { continue }
            states.append(latest)
        }
        return (states, page.next)
    }

    // MARK: The table and its effects

    private func change<Failure>(_ change: (inout TransferTable) throws(Failure) -> Void) throws(Failure) {
        var failure: Failure?
        let stopped = state.withLock { state in
            do throws(Failure) { try change(&state.table) } catch { failure = error }
            return apply(&state)
        }
        for task in stopped { task.cancel() }
        if let failure { throw failure }
    }

    /// Starts runs and the writing of states, and signals watchers; requires the lock.
    private func apply(_ state: inout State) -> [Task<Void, Never>] {
        var stopped: [Task<Void, Never>] = []
        for effect in state.table.takeEffects() {
            switch effect {
            case .start(let key): state.tasks[key] = Task { await run(key) }
            case .stop(let key): if let task = state.tasks[key] { stopped.append(task) }
            case .ended(let key): state.tasks[key] = nil
            case .tell(let key): for watcher in state.watchers[key]?.values.map(\.self) ?? [] { watcher.yield() }
            }
        }
        if !state.table.unsaved.isEmpty { _ = scheduleWrite(&state) }
        return stopped
    }

    private func run(_ key: ExactText) async {
        guard let entry = state.withLock({ $0.table.entries[key] }) else { return }
        let outcome: TransferTable.Outcome, transfer = entry.transfer
        do {
            let run = TransferRun(
                transfer: transfer, network: try pipeline(transfer), options: options, retries: retries, disk: disk,
                report: { [weak self, retries] news in
                    self?.change { $0.note(news, of: key, at: retries.elapsed) }
                }, saved: { [weak self] in try? await self?.settle() })
            if entry.wish == .cancel {
                outcome = .ended
            } else if let target = transfer.target {
                outcome = try await run.download(to: target)
            } else {
                outcome = try await run.upload()
            }
        } catch is CancellationError {
            outcome = .ended
        } catch {
            outcome = .failed(BackplaneError(thrown: error))
        }
        var isPartRemoved = false, hasEnded = false
        while !hasEnded {
            var target: String?
            // The transfer may be cancelled at any moment before its end is recorded.
            change { table in
                target = isPartRemoved ? nil : table.partToRemove(key, after: outcome)
                hasEnded = target == nil
                if hasEnded { table.ended(key, outcome) }
            }
            if let target {
                try? await disk.perform { () throws(BackplaneError) in try PartFile(target: target).remove() }
                isPartRemoved = true
            }
        }
    }

    // MARK: Writing

    /// Schedules a write of the changed states after the write in progress, so that an earlier state never overwrites a
    /// later one; requires the lock.
    ///
    /// A record that could not be stored is tried again with the next change, or when a command waits for it.
    private func scheduleWrite(_ state: inout State) -> Task<BackplaneError?, Never> {
        if let scheduled = state.scheduledWrite { return scheduled }
        let task = Task { [last = state.lastWrite] in
            _ = await last?.value
            return await write()
        }
        (state.scheduledWrite, state.lastWrite) = (task, task)
        return task
    }

    private func write() async -> BackplaneError? {
        let changes = state.withLock { state in
            state.scheduledWrite = nil
            return state.table.takeUnsaved()
        }
        var error: BackplaneError?
        for start in stride(from: 0, to: changes.count, by: 1_000) {
            let part = changes[start..<min(start + 1_000, changes.count)]
            do throws(BackplaneError) {
                try await records.write(part)
            } catch let failure {
                error = failure
                report(failure)
            }
            let isStored = error == nil
            state.withLock { $0.table.saved(part.map(\.0), isStored) }
        }
        return error
    }

    private func settle() async throws(BackplaneError) {
        let write = state.withLock { $0.table.isSettled ? $0.lastWrite : scheduleWrite(&$0) }
        if let error = await write?.value { throw error }
    }
}

extension BackplaneError {
    fileprivate static func unknownTransfer(_ id: String) -> BackplaneError {
        BackplaneError(.transferUnknown, "there is no transfer with this id", at: id.shownID)
    }
}

// MARK: Admission

extension Transfer {
    /// Returns the transfer with absolute paths, as a pool stores it.
    fileprivate func admitted() throws(BackplaneError) -> Transfer {
        guard (1...RecordLimits.id).contains(id.utf8.count) else {
            throw refused("expected an id of 1 to \(RecordLimits.id) bytes, found \(id.utf8.count) bytes")
        }
        if WebURL(request.url)?.userInfo != nil {
            throw refused(
                "the URL contains credentials, which would be stored; give them in an `Authorization` field")
        }
        var admitted = self
        guard let target else {
            admitted.request.body = try admittedBody()
            return admitted
        }
        guard request.method == "GET", request.body.isEmpty else {
            throw refused("a download is a GET without a body")
        }
        if let own = ["Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"]
            .first(where: { request.headers[$0] != nil })
        {
            throw refused("the field \(own) is set by the download itself; leave it out")
        }
        guard TargetPath(target) != nil else { throw .noFile(target.shownID) }
        if let sha256, sha256.count != 32 {
            throw refused("expected a SHA-256 of 32 bytes, found \(sha256.count) bytes")
        }
        admitted.target = Self.absolute(target)
        return admitted
    }

    private func admittedBody() throws(BackplaneError) -> HTTPBody {
        let segments = try pieces
        let count = segments.reduce(0) { if case .bytes(let bytes) = $1 { $0 + bytes.count } else { $0 } }
        guard count <= TransferPool.bodyLimit else {
            throw refused(
                "the body has \(count) bytes in memory, more than \(TransferPool.bodyLimit); upload it from a file")
        }
        let absolute = segments.map { segment in
            if case .file(let path) = segment { BodySegment.file(Self.absolute(path)) } else { segment }
        }
        return HTTPBody(segments: absolute, type: request.body.mediaType)
    }

    /// Returns the absolute form of a path, which remains valid after a restart in another folder.
    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    private func refused(_ why: String) -> BackplaneError {
        BackplaneError(.transferRefused, why, at: request.printableURL)
    }
}
