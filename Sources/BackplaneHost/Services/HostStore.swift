import Backplane
import BackplaneStorage

/// The host's record store, opened when the first data access controller starts.
final class HostStore: Sendable {
    typealias Opener = @Sendable (DamagedStorePolicy) throws -> any RecordStore

    private struct State {
        var damaged: DamagedStorePolicy
        var store: (any RecordStore)?
        var isBeingOpened = false
        var wasPrepared = false
    }
    private enum Access {
        case opened(any RecordStore)
        case toBeOpened(DamagedStorePolicy)
    }
    private let open: Opener
    private let state: Monitor<State>

    /// Creates a store that is not open.
    ///
    /// - Parameter damaged: The treatment of a damaged file.
    init(damaged: DamagedStorePolicy, _ open: @escaping Opener) {
        (self.open, state) = (open, Monitor(State(damaged: damaged)))
    }

    /// The treatment of a damaged file, which matters until the store is open.
    var damaged: DamagedStorePolicy {
        get { state.withLock { $0.damaged } }
        set { state.withLock { $0.damaged = newValue } }
    }

    /// A Boolean value that indicates whether the store is open or being opened.
    var isOpen: Bool { state.withLock { $0.store != nil || $0.isBeingOpened } }

    /// A Boolean value that indicates whether the store is being opened.
    var isBeingOpened: Bool { state.withLock { $0.isBeingOpened } }

    /// Opens the store on a thread of its own; only the first request does.
    ///
    /// Whether a data access controller uses the store is not known before it does, so that a failure is no reason
    /// not to start it.
    ///
    /// - Parameter failed: Called if the store cannot be opened.
    func prepare(_ failed: @escaping @Sendable (BackplaneError) -> Void) {
        let damaged: DamagedStorePolicy? = state.withLock { state in
            guard !state.wasPrepared, state.store == nil, !state.isBeingOpened else { return nil }
            (state.wasPrepared, state.isBeingOpened) = (true, true)
            return state.damaged
        }
        guard let damaged else { return }
        let begins = HostThread.tryStart("bp-store") { [self] in
            _ = finishOpening(damaged, orElse: failed)
        }
        if !begins { state.withLock { $0.isBeingOpened = false } }
    }

    /// Returns the store; if it cannot be opened, the next call tries again.
    ///
    /// - Throws: `store.unusable` or `store.damaged`.
    private func get() throws(BackplaneError) -> any RecordStore {
        let access: Access = state.wait { state in
            if let store = state.store { return .done(.opened(store)) }
            if state.isBeingOpened { return .until(nil) }
            state.isBeingOpened = true
            return .done(.toBeOpened(state.damaged))
        }
        switch access {
        case .opened(let store): return store
        case .toBeOpened(let damaged): return try finishOpening(damaged) { _ in }.get()
        }
    }

    /// Opens the store for all who wait for it.
    ///
    /// - Parameter failed: Called with the reason of a failure, before anyone else learns of it.
    private func finishOpening(_ damaged: DamagedStorePolicy, orElse failed: (BackplaneError) -> Void) -> Result<
        any RecordStore, BackplaneError
    > {
        let result: Result<any RecordStore, BackplaneError>
        do { result = .success(try open(damaged)) } catch {
            result = .failure(
                error as? BackplaneError ?? BackplaneError(.storeUnusable, "the store cannot be opened: \(error)"))
        }
        if case .failure(let error) = result { failed(error) }
        state.withLock { state in
            state.isBeingOpened = false
            if case .success(let store) = result { state.store = store }
        }
        return result
    }

    func write(_ changes: [RecordChange], in namespace: String) async throws(BackplaneError) {
        try await get().write(changes, in: namespace)
    }

    func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        try await get().read(query, in: namespace)
    }
}
