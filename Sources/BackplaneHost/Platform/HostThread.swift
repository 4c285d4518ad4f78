import Backplane
import Glibc

/// A thread of the host's own, for what must not wait until plugins leave Swift's thread pool alone.
package enum HostThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new detached thread.
    ///
    /// - Parameter name: what debuggers call it, at most 15 bytes.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        guard tryStart(name, body) else { preconditionFailure("the system gives the host no thread") }
    }

    /// The same; `false` when the system gives no more threads.
    package static func tryStart(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let context = Unmanaged.passRetained(
            Body {
                nameThisThread(name)
                body()
            })
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, { context in
            Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().run()
            return nil
        }, context.toOpaque())
        guard status == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Runs a function of a plugin, which may never return, on a thread that nobody waits for: one that has come back from another, or a
    /// new one.
    static func launch(_ body: @escaping @Sendable () -> Void) {
        if idle.take(body) { return }
        let started = tryStart("bp-plugin") {
            body()
            while let next = idle.wait() { next() }
        }
        if !started { body() }
    }

    private static let idle = IdleThreads(most: 4, patience: .seconds(5))

    private static func nameThisThread(_ name: String) {
        guard let file = fopen("/proc/thread-self/comm", "w") else { return }
        fputs(String(name.prefix(15)), file)
        fclose(file)
    }
}

/// Threads that have nothing to do, and take what comes for a while: waking one costs less than half of making one.
///
/// They are the process's: one that has come back from a plugin holds nothing of the host that it worked for, and may come back
/// when that host is gone.
private final class IdleThreads: Sendable {
    private struct State {
        var waiting = 0
        var work: [@Sendable () -> Void] = []
    }
    private let most: Int
    private let patience: Duration
    private let state = Monitor(State())

    init(most: Int, patience: Duration) {
        (self.most, self.patience) = (most, patience)
    }

    /// Gives `body` to a thread that waits; `false` when none does.
    func take(_ body: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.work.count < state.waiting else { return false }
            state.work.append(body)
            return true
        }
    }

    /// Waits for something to do; `nil`: nothing came, or enough others wait.
    func wait() -> (@Sendable () -> Void)? {
        let end = Deadline.now + patience
        guard state.withLock({ state in
            guard state.waiting < most else { return false }
            state.waiting += 1
            return true
        }) else { return nil }
        return state.wait { state in
            if !state.work.isEmpty {
                state.waiting -= 1
                return .done(state.work.removeFirst())
            }
            guard Deadline.now >= end else { return .until(end) }
            state.waiting -= 1
            return .done(nil)
        }
    }
}
