package import Backplane
import BackplaneHost
import Glibc
import Synchronization

/// The stop signals as events: the first requests an orderly stop, a second SIGINT ends the process immediately.
package final class StopSignals: Sendable {
    private let events: AsyncStream<Int32>

    /// Installs the signal handlers for the whole process.
    ///
    /// - Parameters:
    ///   - numbers: The signals to handle.
    ///   - beforeDying: A function called before a second SIGINT ends the process.
    /// - Throws: `host.exhausted` if no pipe or thread can be created for the signals.
    package init(_ numbers: [Int32] = [SIGINT, SIGTERM], beforeDying: @escaping @Sendable () -> Void = {})
        throws(BackplaneError)
    {
        var ends: [Int32] = [-1, -1]
        // Handlers must be async-signal-safe: they write the signal's number to a pipe, which a separate thread reads.
        guard pipe(&ends) == 0 else {
            throw BackplaneError(
                .hostExhausted,
                "no file could be opened to handle signals: \(String(cString: strerror(errno))); raise the limit (`ulimit -n`)"
            )
        }
        writeEnd.store(ends[1], ordering: .releasing)
        let (events, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.events = events
        let reading = ends[0]
        let isRead = HostThread.tryStart("bp-signals") {
            Self.readForever(reading, numbers, { continuation.yield($0) }, beforeDying)
        }
        guard isRead else {
            for end in ends { close(end) }
            throw BackplaneError(
                .hostExhausted,
                "no thread could be created to handle signals; raise the limits on processes and memory (`ulimit -u`, `ulimit -v`)"
            )
        }
        // The reader of the output may go away, which must not prevent an orderly stop.
        signal(SIGPIPE, SIG_IGN)
        for number in numbers {
            let before = signal(number) { number in
                var byte = UInt8(number)
                _ = write(writeEnd.load(ordering: .acquiring), &byte, 1)
            }
            // `nohup` ignores SIGHUP, so that the process outlives its terminal.
            if number == SIGHUP, unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
                signal(SIGHUP, SIG_IGN)
            }
        }
    }

    /// Returns the name of the next signal, or `nil` if the task is cancelled first.
    package func next() async -> String? {
        for await number in events { return Self.names[number] ?? "signal \(number)" }
        return nil
    }

    private static let names = [SIGINT: "SIGINT", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP"]

    private static func readForever(
        _ end: Int32, _ signals: [Int32], _ deliver: (Int32) -> Void, _ beforeDying: () -> Void
    ) {
        // A program inherits the blocked signals of the thread that starts it, such as a worker of libdispatch.
        var unblocked = sigset_t()
        sigemptyset(&unblocked)
        for number in signals { sigaddset(&unblocked, number) }
        pthread_sigmask(SIG_UNBLOCK, &unblocked, nil)
        var isStopping = false
        while true {
            var byte: UInt8 = 0
            guard read(end, &byte, 1) == 1 else { continue }
            if isStopping, Int32(byte) == SIGINT {
                beforeDying()
                _exit(130)
            }
            isStopping = true
            deliver(Int32(byte))
        }
    }
}

/// The end of the pipe that the signal handler writes to; it is global because a handler has no context.
private let writeEnd = Atomic<Int32>(-1)
