import Glibc

/// A thread of the host's own, for what must not wait until plugins leave Swift's thread pool alone.
enum HostThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new detached thread.
    ///
    /// - Parameter name: what debuggers call it, at most 15 bytes.
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        guard tryStart(name, body) else { preconditionFailure("the system gives the host no thread") }
    }

    /// The same; `false` when the system gives no more threads.
    static func tryStart(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
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

    /// Runs a function of a plugin, which may never return, on a thread that nobody waits for.
    static func launch(_ body: @escaping @Sendable () -> Void) {
        if !tryStart("bp-plugin", body) { body() }
    }

    private static func nameThisThread(_ name: String) {
        guard let file = fopen("/proc/thread-self/comm", "w") else { return }
        fputs(String(name.prefix(15)), file)
        fclose(file)
    }
}
