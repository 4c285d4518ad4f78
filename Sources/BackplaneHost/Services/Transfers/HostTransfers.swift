import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneRecords
import BackplaneTransfers
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
