#if Engines
import Backplane
import BackplaneHost
import Glibc
import Synchronization

/// A manager that a server calls, with limits for the requests that are handled concurrently and that wait.
final class ServedManager: Sendable {
    private struct Places {
        var handled = 0
        /// The requests that wait, in the order of arrival.
        var waiting: [Awaited<Void>] = []
    }
    let name: String
    let component: Int
    /// The threads of the manager's handlers, so that blocking handlers delay no other manager.
    private let threads: WorkerThreads
    /// A Boolean value that indicates whether a handler has kept a thread of Swift's pool for too long.
    private let hasBlocked = Atomic(false)
    /// The number of consecutive handlers that have left a thread of Swift's pool quickly.
    private let quickOnes = Atomic(0)
    private let limits: ServerLimits
    private let places = Mutex(Places())

    init(_ routes: ManagerRoutes, limits: ServerLimits) {
        (name, component, self.limits) = (routes.manager, routes.component, limits)
        threads = WorkerThreads("bp-\(name)")
    }

    /// Waits for a place, and takes it.
    ///
    /// - Throws: `call.overloaded` if too many others wait; `call.deadline`; `call.cancelled`.
    func enter(until deadline: Deadline?, by clock: any DeadlineClock) async throws(BackplaneError) {
        enum Entry { case admitted, full, waits(Awaited<Void>) }
        let entry = places.withLock { places -> Entry in
            if places.handled < limits.concurrent {
                places.handled += 1
                return .admitted
            }
            guard places.waiting.count < limits.waiting else { return .full }
            let turn = Awaited<Void>()
            places.waiting.append(turn)
            return .waits(turn)
        }
        switch entry {
        case .admitted: return
        case .full:
            throw BackplaneError(
                .callOverloaded,
                "`\(name)` handles \(limits.concurrent) requests, and \(limits.waiting) wait; send fewer at once, or "
                    + "raise the limits `concurrent` and `waiting`")
        case .waits(let turn):
            if await turn.wait(until: deadline, by: clock) != nil { return }
            let isWaiting = places.withLock { places in
                guard let index = places.waiting.firstIndex(where: { $0 === turn }) else { return false }
                places.waiting.remove(at: index)
                return true
            }
            // Its turn came at the last moment.
            if !isWaiting { leave() }
            throw Task.isCancelled
                ? BackplaneError(.callCancelled, "the request was cancelled")
                : .deadlinePassed(before: "`\(name)` could handle the request")
        }
    }

    /// Passes the place of a request on to the next one.
    func leave() {
        let next = places.withLock { places -> Awaited<Void>? in
            if places.waiting.isEmpty {
                places.handled -= 1
                return nil
            }
            return places.waiting.removeFirst()
        }
        next?.set(())
    }

    /// The times for which a handler may keep a thread of Swift's pool: the time of a quick handler, and the maximum.
    private static let quick = Duration.milliseconds(10), patience = Duration.milliseconds(100)
    /// The number of consecutive quick handlers after which a manager's handlers may take the last thread of the pool.
    private static let trusted = 1_000
    /// The number of threads of Swift's pool on which no handler begins.
    private static let poolThreads = Atomic(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// Begins a handler: on this thread of Swift's pool, which saves two changes of threads, or on a thread of the
    /// manager.
    ///
    /// A handler that begins here continues on the manager's threads once it has waited. The last thread of the pool,
    /// which serves everything else, is for managers whose handlers have been quick so far. After a handler has blocked
    /// a thread of the pool, its manager uses only its own threads.
    func begin<Value>(_ handler: @escaping @Sendable () async -> Value) -> RouteStep<Value> {
        guard !hasBlocked.load(ordering: .relaxed) else { return RouteStep(on: threads, handler) }
        let left = Self.poolThreads.subtract(1, ordering: .relaxed).newValue
        defer { Self.poolThreads.add(1, ordering: .relaxed) }
        guard left > 0 || left == 0 && quickOnes.load(ordering: .relaxed) >= Self.trusted else {
            return RouteStep(on: threads, handler)
        }
        let start = Deadline.now, step = RouteStep(continuingOn: threads, handler), time = Deadline.now - start
        if time > Self.patience { hasBlocked.store(true, ordering: .relaxed) }
        if time > Self.quick { quickOnes.store(0, ordering: .relaxed) } else { quickOnes.add(1, ordering: .relaxed) }
        return step
    }
}
#endif
