import Backplane
import BackplaneStorage
import Synchronization

/// The host's record store, opened lazily when a component first uses it.
final class HostStore: Sendable {
    private let open: @Sendable () throws -> any RecordStore
    private let opened = Mutex<(any RecordStore)?>(nil)

    init(_ open: @escaping @Sendable () throws -> any RecordStore) { self.open = open }

    /// Returns the store; if it cannot be opened, the next call tries again.
    ///
    /// - Throws: `store.unusable`.
    private func get() throws(BackplaneError) -> any RecordStore {
        let result: Result<any RecordStore, BackplaneError> = opened.withLock { opened in
            if let opened { return .success(opened) }
            do {
                let store = try open()
                opened = store
                return .success(store)
            } catch {
                return .failure(Self.unusable(error))
            }
        }
        return try result.get()
    }

    func write(_ changes: [RecordChange], in namespace: String) async throws(BackplaneError) {
        try await get().write(changes, in: namespace)
    }

    func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        try await get().read(query, in: namespace)
    }

    private static func unusable(_ error: any Error) -> BackplaneError {
        error as? BackplaneError ?? BackplaneError(.storeUnusable, "the store cannot be opened: \(error)")
    }
}
