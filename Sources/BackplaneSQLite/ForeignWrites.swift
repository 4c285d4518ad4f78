#if Engines
import Backplane
import GRDB
import Synchronization

/// The watch for writes of other processes to a store's file, which runs while a task waits for changes.
///
/// SQLite does not notify a process of writes by others, so its change counter is read every quarter of a second.
final class ForeignWrites: Sendable {
    private struct State {
        var waiting = 0
        var task: Task<Void, Never>?
    }
    private static let interval = Duration.milliseconds(250)
    private let database: DatabasePool
    private let found: @Sendable () -> Void
    private let state = Mutex(State())

    /// Creates a watch that is not running yet.
    ///
    /// - Parameter found: A function that is called after others have written, and once when the watch starts.
    init(to database: DatabasePool, found: @escaping @Sendable () -> Void) {
        (self.database, self.found) = (database, found)
    }

    /// Runs a function that waits, while the watch is running.
    func watched<Value>(
        _ body: () async throws(BackplaneError) -> Value
    ) async throws(BackplaneError) -> Value {
        state.withLock { state in
            state.waiting += 1
            if state.task == nil { state.task = Task { [database, found] in await Self.run(database, found) } }
        }
        defer {
            state.withLock { state in
                state.waiting -= 1
                if state.waiting == 0 { state.task.take()?.cancel() }
            }
        }
        return try await body()
    }

    private static func run(_ database: DatabasePool, _ found: @Sendable () -> Void) async {
        var last: Int64?
        while true {
            do { try await Task.sleep(for: interval) } catch { return }
            // The writer has made all writes of this store, so that it counts only those of others.
            let version = await withUnsafeContinuation { (continuation: UnsafeContinuation<Int64?, Never>) in
                database.asyncWriteWithoutTransaction { db in
                    continuation.resume(returning: try? Int64.fetchOne(db, sql: "PRAGMA data_version"))
                }
            }
            if let version, version != last {
                last = version
                found()
            }
        }
    }
}
#endif
