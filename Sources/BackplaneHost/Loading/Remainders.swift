import Backplane

/// The remainders of the copies in a load folder, and the thread that copies them and gives their room back, one after the other.
final class Remainders: Sendable {
    private struct State {
        /// By the paths of the copies.
        var known: [String: LibraryRemainder] = [:]
        var toFill: [LibraryRemainder] = [], toEmpty: [LibraryRemainder] = []
        /// Filled from then on.
        var start = Deadline.now
        var isRunning = false
        var isStopped = false
    }
    private let state = Monitor(State())

    /// How long nothing has to be loaded before remainders are copied: a swap, and whoever waits for it, needs the processor and the disk
    /// more. Little enough that a crash of new code finds its function names.
    private static var quiet: Duration { .milliseconds(20) }

    func add(_ remainder: LibraryRemainder) {
        state.withLock { $0.known[remainder.copy] = remainder }
    }

    /// Fills the remainder of a copy soon; where the system gives no thread, never.
    func fill(_ copy: String) {
        work { state in
            state.start = .now + Self.quiet
            guard let remainder = state.known[copy] else { return }
            state.toFill.append(remainder)
        }
    }

    /// Gives up the remainder of a copy.
    func drop(_ copy: String) {
        work { state in
            state.toFill.removeAll { $0.copy == copy }
            if let remainder = state.known[copy], remainder.drop() { state.toEmpty.append(remainder) }
        }
    }

    /// What of its library a copy does not have now.
    func missing(in copy: String) -> [Range<Int>] {
        state.withLock { $0.known[copy]?.missing ?? [] }
    }

    /// Fills no more.
    func stop() {
        state.withLock { ($0.isStopped, $0.known, $0.toFill, $0.toEmpty) = (true, [:], [], []) }
    }

    /// Waits until there is nothing left to do.
    func waitUntilIdle() {
        state.wait { $0.isRunning ? .until(nil) : .done(()) }
    }

    /// Adds to what there is to do, and sees to a thread that does it.
    private func work(_ add: (inout State) -> Void) {
        let needsThread = state.withLock { state in
            guard !state.isStopped else { return false }
            add(&state)
            guard !state.isRunning, !(state.toFill.isEmpty && state.toEmpty.isEmpty) else { return false }
            state.isRunning = true
            return true
        }
        if needsThread, !HostThread.tryStart("bp-symbols", { self.run() }) {
            state.withLock { ($0.isRunning, $0.toFill, $0.toEmpty) = (false, [], []) }
        }
    }

    private enum Task {
        case fill(LibraryRemainder), empty(LibraryRemainder)
    }

    private func run() {
        while let task = next() {
            switch task {
            case .fill(let remainder): remainder.fill { self.state.withLock { !$0.isStopped } }
            case .empty(let remainder): remainder.giveRoomBack()
            }
        }
    }

    private func next() -> Task? {
        state.wait { state in
            if !state.toEmpty.isEmpty { return .done(.empty(state.toEmpty.removeFirst())) }
            guard !state.toFill.isEmpty else {
                state.isRunning = false
                return .done(nil)
            }
            return .now < state.start ? .until(state.start) : .done(.fill(state.toFill.removeFirst()))
        }
    }
}
