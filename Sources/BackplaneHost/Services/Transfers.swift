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
    ///
    /// - Throws: `store.unusable` or `store.damaged`; `host.stopped`.
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
            try folder().makeTransfersFolder()
            let pool = try await TransferPool(
                pipeline: { [network] transfer throws(BackplaneError) in
                    let pipeline = network.active.pipeline(of: transfer.managers)
                    if let credential = transfer.credential {
                        try pipeline.requireCredential(credential, for: transfer.managers)
                    }
                    return pipeline
                }, store: store, persists: { [store] in store.isPersistent }, retries: network.retries,
                report: { [log] error in
                    log.write(
                        LogRecord(
                            level: .error, source: "host", message: "the state of a transfer cannot be stored",
                            metadata: ["error": error.description]))
                })
            state.withLock { $0.pool = pool }
            return .success(pool)
        } catch {
            return .failure(error)
        }
    }

    /// Opens the pool if an earlier host in the same folder had transfers.
    func goOn() {
        guard let folder = try? self.folder(), folder.hasTransfersFolder, let opening = try? begin() else { return }
        Task { [log] in
            guard case .failure(let error) = await opening.value else { return }
            self.state.withLock { if $0.pool == nil, $0.opening == opening { $0.opening = nil } }
            log.write(
                LogRecord(
                    level: .error, source: "host", message: "transfers cannot continue",
                    metadata: ["error": error.description]))
        }
    }

    /// Resumes the transfers that wait for an account.
    private func signedIn(_ credential: String, account: String) {
        let (pool, opening) = state.withLock { ($0.pool, $0.opening) }
        if let pool { return pool.signedIn(credential, account: account) }
        // Transfers that the pool continues may find the account missing before the pool is open.
        guard let opening else { return }
        Task { if case .success(let pool) = await opening.value { pool.signedIn(credential, account: account) } }
    }

    /// Ends the runs of all transfers, which continue with the next host.
    ///
    /// ``hasEnded`` indicates when they have ended.
    private func end() {
        let opening = state.withLock { state -> Task<Result<TransferPool, BackplaneError>, Never>? in
            guard !state.isEnding else { return nil }
            state.isEnding = true
            if state.opening == nil { state.hasEnded = true }
            return state.opening
        }
        guard let opening else { return }
        Task {
            if case .success(let pool) = await opening.value { await pool.stop() }
            self.state.withLock { $0.hasEnded = true }
        }
    }

    /// Ends the runs of all transfers, and waits for them to end within a time limit.
    ///
    /// The next host resumes unfinished transfers from the bytes that have been written by then.
    func end(within limit: Duration, _ clock: any HostClock) async {
        end()
        _ = await clock.waits(limit) { hasEnded }
    }

    /// A Boolean value that indicates whether no transfer is running and all states have been written.
    private var hasEnded: Bool { state.withLock { $0.hasEnded } }
}

/// The transfers of one component, which are those of its plugin.
///
/// In the pool, their ids begin with that of the plugin and a slash.
struct ComponentTransfers: Sendable {
    let host: HostTransfers
    let plugin: String
    let component: String
    let managers: [String]
    let folder: ComponentFolder
    let operations: ServiceOperations

    /// Reads a borrowed transfer in the form for the host's pool.
    ///
    /// - Throws: `network.refused` for a request that is not UTF-8 and a path that escapes the folder;
    ///   `network.unsupported` for options that this host does not support; `transfer.refused` for invalid values.
    func transfer(copying lent: UnsafePointer<bp_transfer>) throws(BackplaneError) -> Transfer {
        let lent: bp_transfer = read(lent)
        var transfer = Transfer(name(lent.id.text), upload: try HTTPRequest(copying: lent.request))
        guard !lent.id.lent.isEmpty else { throw refused(transfer, "expected an id, found an empty string") }
        if lent.download.lent.isEmpty {
            transfer.request.body = try body(lent, transfer)
        } else {
            transfer.target = try folder.path(of: lent.download.text, makingFolder: true)
            transfer.existing = try existing(lent.existing, transfer)
            transfer.sha256 = lent.sha256.lent.isEmpty ? nil : lent.sha256.array
            transfer.sizeLimit = lent.size_limit > 0 ? lent.size_limit : nil
        }
        (transfer.owner, transfer.priority) = (plugin, Int(lent.priority))
        (transfer.sender, transfer.managers) = (component, managers)
        for (name, value) in Pairs.copy(lent.named, count: min(lent.named_count, 100)) {
            switch name {
            case "credential": transfer.credential = value
            case "account": transfer.account = value
            default:
                throw BackplaneError(
                    .networkUnsupported, "this host has no transfer option named `\(name)`")
            }
        }
        return transfer
    }

    /// Returns the id of a transfer in the pool.
    func name(_ id: String) -> String { "\(plugin)/\(id)" }

    /// Returns a state of the pool as presented to the component.
    func shown(_ state: TransferState) -> TransferState {
        var state = state
        state.id = String(state.id.dropFirst(plugin.count + 1))
        return state
    }

    private func body(_ lent: bp_transfer, _ transfer: Transfer) throws(BackplaneError) -> HTTPBody {
        guard lent.piece_count > 0 else { return transfer.request.body }
        guard transfer.request.body.isEmpty else {
            throw refused(transfer, "the upload has two bodies; provide only one of `request.body` and `pieces`")
        }
        let pieces: [bp_transfer_piece] = try Descriptors.read(
            lent.pieces, count: lent.piece_count, of: "the pieces", limit: Descriptors.dataLimit)
        var segments: [BodySegment] = []
        for piece in pieces {
            switch Int(piece.kind) {
            case Int(BP_TRANSFER_BYTES): segments.append(.bytes(piece.content.array))
            case Int(BP_TRANSFER_FILE):
                segments.append(.file(try folder.path(of: piece.content.text, makingFolder: false)))
            default: throw refused(transfer, "unknown kind \(piece.kind) of a piece of the body")
            }
        }
        return HTTPBody(segments: segments, type: nil)
    }

    private func existing(_ number: UInt32, _ transfer: Transfer) throws(BackplaneError) -> ExistingFile {
        switch Int(number) {
        case Int(BP_EXISTING_REPLACE): .replace
        case Int(BP_EXISTING_KEEP): .keep
        case Int(BP_EXISTING_NUMBER): .number
        default: throw refused(transfer, "unknown policy \(number) for an existing file")
        }
    }

    private func refused(_ transfer: Transfer, _ why: String) -> BackplaneError {
        BackplaneError(.transferRefused, why, at: transfer.request.printableURL)
    }
}

/// The functions of `backplane.transfers/1`.
let transferFunctions = bp_transfers_1(
    size: UInt32(MemoryLayout<bp_transfers_1>.size), reserved: 0,
    begin: { handle, transfer, call, done, context in
        start(handle, call, Reply(done, context)) { transfers throws(BackplaneError) in
            let transfer = try transfers.transfer(copying: transfer)
            return { pool throws(BackplaneError) in try await pool.begin(transfer) }
        }
    },
    change: { handle, id, change, call, done, context in
        start(handle, call, Reply(done, context)) { transfers throws(BackplaneError) in
            let id = transfers.name(id.text), wanted: TransferChange
            switch Int(change) {
            case Int(BP_TRANSFER_PAUSE): wanted = .pause
            case Int(BP_TRANSFER_RESUME): wanted = .resume
            case Int(BP_TRANSFER_CANCEL): wanted = .cancel
            case Int(BP_TRANSFER_REMOVE): wanted = .remove
            default: throw BackplaneError(.transferRefused, "unknown change \(change) of a transfer")
            }
            return { pool throws(BackplaneError) in
                try await pool.change(wanted, id)
                return nil
            }
        }
    },
    state: { handle, id, after, call, done, context in
        start(handle, call, Reply(done, context)) { transfers throws(BackplaneError) in
            let id = transfers.name(id.text)
            // BP_TRANSFER_NOW is `UINT64_MAX`, which Swift does not import.
            return { pool throws(BackplaneError) in try await pool.state(of: id, after: after == .max ? nil : after) }
        }
    },
    cancel: { handle, id in ComponentHandles.find(handle)?.transfers.operations.cancel(id) })

/// Starts an operation of the component with a handle, which is answered with a state as presented to the component.
///
/// Components do not wait for its end: the transfer continues, and a swap or a stop only ends the wait.
private func start(
    _ handle: UInt64, _ call: UnsafePointer<bp_call>?, _ reply: Reply,
    _ prepare: (ComponentTransfers) throws(BackplaneError) ->
        @Sendable (TransferPool) async throws(BackplaneError) -> TransferState?
) -> UInt64 {
    OfferedServices.start(
        handle, BP_TRANSFERS, for: exchangingRoles, call: call, isWait: true,
        in: \.transfers.operations, reply.end
    ) { component throws(BackplaneError) in
        let transfers = component.transfers, operation = try prepare(transfers)
        return { () throws(BackplaneError) in
            guard let state = try await operation(try await transfers.host.pool()) else { return EncodedAnswer([]) }
            return EncodedAnswer(try JSON.encode(transfers.shown(state), failing: .callInvalidOutput))
        }
    }
}
