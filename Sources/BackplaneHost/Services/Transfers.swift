import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneRecords
import BackplaneTransfers
import CBackplane
import Synchronization

/// The downloads and uploads of a host's components, in a pool that is opened on first use.
///
/// If there have been transfers in its folder, a host opens the pool when it starts, so that unfinished transfers
/// continue.
final class HostTransfers: Sendable {
    private struct State {
        var opening: Task<Result<TransferPool, BackplaneError>, Never>?
        var pool: TransferPool?
        var isEnding = false
        /// Whether no transfer is running and all states have been written.
        var hasEnded = false
    }
    private let network: HostNetwork
    private let store: HostStore
    private let log: any LogSink
    private let folder: @Sendable () throws(BackplaneError) -> DataFolder
    private let state = Mutex(State())

    init(
        _ network: HostNetwork, _ store: HostStore, log: any LogSink,
        _ folder: @escaping @Sendable () throws(BackplaneError) -> DataFolder
    ) {
        (self.network, self.store, self.log, self.folder) = (network, store, log, folder)
        network.observeSignIns { [weak self] credential, account in self?.signedIn(credential, account: account) }
    }

    /// Returns the pool, opening it if necessary; if that fails, the next call tries again.
    func pool() async throws(BackplaneError) -> TransferPool {
        let opening = try begin()
        do throws(BackplaneError) {
            return try await opening.value.get()
        } catch {
            // Another call may already be trying again.
            state.withLock { if $0.pool == nil, $0.opening == opening { $0.opening = nil } }
            throw error
        }
    }

    private func begin() throws(BackplaneError) -> Task<Result<TransferPool, BackplaneError>, Never> {
        let opening = state.withLock { state -> Task<Result<TransferPool, BackplaneError>, Never>? in
            guard !state.isEnding else { return nil }
            if let opening = state.opening { return opening }
            let opening = Task { await self.open() }
            state.opening = opening
            return opening
        }
        guard let opening else { throw BackplaneError(.hostStopped, "the host has stopped") }
        return opening
    }

    private func open() async -> Result<TransferPool, BackplaneError> {
        do throws(BackplaneError) {
            try folder().make(.transfers)
            let pool = try await TransferPool(
                pipeline: { [network] transfer throws(BackplaneError) in
                    let pipeline = network.active.pipeline(of: transfer.managers)
                    if let credential = transfer.credential {
                        try pipeline.credentials.require(credential, for: transfer.managers)
                    }
                    return pipeline
                }, store: store, retries: network.retries,
                report: { [log] error in
                    log.report(.error, "the state of a transfer cannot be stored", ["error": error.description])
                })
            state.withLock { $0.pool = pool }
            return .success(pool)
        } catch {
            return .failure(error)
        }
    }

    /// Opens the pool if an earlier host in the same folder had transfers.
    func goOn() {
        guard let folder = try? self.folder(), folder.has(.transfers), let opening = try? begin() else { return }
        Task { [log] in
            guard case .failure(let error) = await opening.value else { return }
            self.state.withLock { if $0.pool == nil, $0.opening == opening { $0.opening = nil } }
            log.report(.error, "transfers cannot continue", ["error": error.description])
        }
    }

    private func signedIn(_ credential: String, account: String) {
        let (pool, opening) = state.withLock { ($0.pool, $0.opening) }
        if let pool { return pool.signedIn(credential, account: account) }
        // Transfers that the pool continues may find the account missing before the pool is open.
        guard let opening else { return }
        Task { if case .success(let pool) = await opening.value { pool.signedIn(credential, account: account) } }
    }

    /// Ends the runs of all transfers, and waits for them to end within a time limit.
    ///
    /// The next host resumes unfinished transfers from the bytes that have been written by then.
    func end(within limit: Duration, _ clock: any HostClock) async {
        let opening = state.withLock { state -> Task<Result<TransferPool, BackplaneError>, Never>? in
            guard !state.isEnding else { return nil }
            state.isEnding = true
            if state.opening == nil { state.hasEnded = true }
            return state.opening
        }
        if let opening {
            Task {
                if case .success(let pool) = await opening.value { await pool.stop() }
                self.state.withLock { $0.hasEnded = true }
            }
        }
        _ = await clock.waits(limit) { self.state.withLock { $0.hasEnded } }
    }
}

/// The transfers of a component's plugin; in the pool, their ids begin with the plugin's id and a slash.
extension OfferedServices {
    /// Returns a component's transfer in the form for the host's pool.
    fileprivate func transfer(_ json: [UInt8]) throws(BackplaneError) -> Transfer {
        let read = try JSON.decode(KnownAndUnknown<Transfer>.self, json, failing: .transferRefused)
        guard read.unknownKeys.isEmpty else {
            let keys = read.unknownKeys.map { "`\($0)`" }.joined(separator: ", ")
            throw BackplaneError(.transferRefused, "a transfer has no \(keys); nothing was started", at: read.value.id)
        }
        var transfer = read.value
        guard !transfer.id.isEmpty else {
            throw BackplaneError(
                .transferRefused, "expected an id, found an empty string", at: transfer.request.printableURL)
        }
        transfer.id = transferName(transfer.id)
        if let target = transfer.target { transfer.target = try folder.path(of: target, makingFolder: true) }
        var segments = transfer.request.body.segments ?? []
        for (index, segment) in segments.enumerated() {
            guard case .file(let path) = segment else { continue }
            segments[index] = .file(try folder.path(of: path, makingFolder: false))
        }
        transfer.request.body = HTTPBody(segments: segments, type: transfer.request.body.mediaType)
        (transfer.owner, transfer.sender, transfer.managers) = (plugin, name, exchanges.managers)
        return transfer
    }

    fileprivate func transferName(_ id: String) -> String { "\(plugin)/\(id)" }

    fileprivate func shown(_ state: TransferState) -> TransferState {
        var state = state
        state.id = String(state.id.dropFirst(plugin.count + 1))
        return state
    }
}

/// The functions of `backplane.transfers/1`.
let transferFunctions = bp_transfers_1(
    size: UInt32(MemoryLayout<bp_transfers_1>.size), reserved: 0,
    begin: { handle, transfer, call, done, context in
        start(handle, call, Reply(done, context)) { component throws(BackplaneError) in
            let transfer = try component.transfer(transfer.array)
            return { pool throws(BackplaneError) in try await pool.begin(transfer) }
        }
    },
    change: { handle, id, change, call, done, context in
        start(handle, call, Reply(done, context)) { component throws(BackplaneError) in
            let id = component.transferName(id.text), name = change.text
            guard let wanted = TransferChange(rawValue: name) else {
                throw BackplaneError(.transferRefused, "expected pause, resume, cancel or remove, found `\(name)`")
            }
            return { pool throws(BackplaneError) in
                try await pool.change(wanted, id)
                return nil
            }
        }
    },
    state: { handle, id, after, call, done, context in
        start(handle, call, Reply(done, context)) { component throws(BackplaneError) in
            let id = component.transferName(id.text)
            // BP_TRANSFER_NOW is `UINT64_MAX`, which Swift does not import.
            return { pool throws(BackplaneError) in try await pool.state(of: id, after: after == .max ? nil : after) }
        }
    },
    cancel: { handle, id in ComponentHandles.find(handle)?.serviceOperations.cancel(id) })

/// Starts an operation of the component with a handle, which is answered with a state as presented to the component.
///
/// The end of a component does not wait for the operation: the transfer continues, and a swap or a stop only ends the
/// wait.
private func start(
    _ handle: UInt64, _ call: UnsafePointer<bp_call>?, _ reply: Reply,
    _ prepare: (OfferedServices) throws(BackplaneError) ->
        @Sendable (TransferPool) async throws(BackplaneError) -> TransferState?
) -> UInt64 {
    OfferedServices.start(
        handle, "the operation on a transfer", of: BP_TRANSFERS, for: exchangingRoles, call: call, isWait: true,
        reply.end
    ) { component throws(BackplaneError) in
        let operation = try prepare(component)
        return { () throws(BackplaneError) in
            guard let state = try await operation(try await component.transfers.pool()) else {
                return EncodedAnswer([])
            }
            return EncodedAnswer(try JSON.encode(component.shown(state), failing: .callInvalidOutput))
        }
    }
}
