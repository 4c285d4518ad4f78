import Backplane
import Glibc
import Synchronization

/// SIGINT and SIGTERM as events: the first asks to stop in order, a second SIGINT ends the process at once.
final class StopSignals: Sendable {
    private let events: AsyncStream<Int32>

    init() {
        var ends: [Int32] = [-1, -1]
        // A handler may do next to nothing: it writes the signal's number, and a thread of its own reads it.
        guard pipe(&ends) == 0 else { preconditionFailure("the system gives the command no pipe") }
        writeEnd.store(ends[1], ordering: .releasing)
        let (events, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.events = events
        Self.readForever(ends[0]) { continuation.yield($0) }
        // Whoever reads the output may go away; that is no reason not to stop in order.
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                var byte = UInt8(number)
                _ = write(writeEnd.load(ordering: .acquiring), &byte, 1)
            }
        }
    }

    /// The name of the next one; `nil` when the task is cancelled first.
    func next() async -> String? {
        for await number in events { return number == SIGINT ? "SIGINT" : "SIGTERM" }
        return nil
    }

    private static func readForever(_ end: Int32, _ deliver: @escaping @Sendable (Int32) -> Void) {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Reader(end: end, deliver: deliver)).toOpaque()
        pthread_create(&thread, nil, { context in
            let reader = Unmanaged<Reader>.fromOpaque(context!).takeRetainedValue()
            // A program started from a thread that blocks signals, as the workers of libdispatch do, has them blocked everywhere.
            var signals = sigset_t()
            sigemptyset(&signals)
            for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            var isStopping = false
            while true {
                var byte: UInt8 = 0
                guard read(reader.end, &byte, 1) == 1 else { continue }
                if isStopping, Int32(byte) == SIGINT { _exit(130) }
                isStopping = true
                reader.deliver(Int32(byte))
            }
        }, context)
        pthread_detach(thread)
    }

    private final class Reader: Sendable {
        let end: Int32
        let deliver: @Sendable (Int32) -> Void
        init(end: Int32, deliver: @escaping @Sendable (Int32) -> Void) { (self.end, self.deliver) = (end, deliver) }
    }
}

/// A signal handler reaches nothing but a global.
private let writeEnd = Atomic<Int32>(-1)
