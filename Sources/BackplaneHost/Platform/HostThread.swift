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
        let context = Unmanaged.passRetained(
            Body {
                nameThisThread(name)
                body()
            }).toOpaque()
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, { context in
            Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().run()
            return nil
        }, context)
        guard status == 0 else { preconditionFailure("the system gives the host no thread: \(String(cString: strerror(status)))") }
        pthread_detach(thread)
    }

    private static func nameThisThread(_ name: String) {
        guard let file = fopen("/proc/thread-self/comm", "w") else { return }
        fputs(String(name.prefix(15)), file)
        fclose(file)
    }
}
