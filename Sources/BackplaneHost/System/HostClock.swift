package import Backplane
import Glibc

/// The clock of a host and its exchanges, which runs the timers of components and whose actions may block.
package protocol HostClock: DeadlineClock {
    /// A Boolean value that indicates whether delays of timers and retries have a random part.
    var hasJitter: Bool { get }
    /// The system clock, by which the host polls for events that nothing signals.
    var polls: SystemClock { get }
    /// Records that the body of a timer is starting; called before the action that starts it returns.
    func bodyBegins()
    /// Records that the body of a timer has ended.
    func bodyEnded()
}

extension HostClock {
    func waits(_ limit: Duration, for isThere: () -> Bool) async -> Bool {
        await waits(until: moment + limit, for: isThere)
    }

    /// Polls until the condition holds; returns `false` if it does not hold at the deadline.
    func waits(until deadline: Deadline, every interval: Duration = .milliseconds(1), for isThere: () -> Bool) async
        -> Bool
    {
        if isThere() { return true }
        // The polls read the clock, but a clock that a test advances has to know about the wait.
        let limit = Callbacks.newID()
        schedule(limit, at: deadline) {}
        defer { cancel(limit) }
        while !isThere() {
            guard moment < deadline else { return false }
            await polls.pause(interval)
        }
        return true
    }
}

/// The system's monotonic clock, with one thread that waits for everything that is scheduled.
///
/// Deadlines therefore expire even while plugins occupy every other thread.
package final class SystemClock: HostClock {
    private struct Entry {
        let time: Deadline
        let mayBlock: Bool
        let action: @Sendable () -> Void
    }
    private struct State {
        var entries: [UInt64: Entry] = [:]
        /// The pending times; times of cancelled entries are dropped when they are due, or once they are the majority.
        var queue = DueQueue()
        var isRunning = false
        var isRetired = false
    }
    private let state = Monitor(State())
    private let work = PluginWork()

    package init() {}

    package var moment: Deadline { .now }
    package var hasJitter: Bool { true }
    package var polls: SystemClock { self }
    package func bodyBegins() {}
    package func bodyEnded() {}

    package func schedule(_ id: UInt64, at time: Deadline, _ action: @escaping @Sendable () -> Void) {
        add(id, Entry(time: time, mayBlock: true, action: action))
    }

    /// Runs `action`, which must not block, on the clock's own thread.
    func look(_ id: UInt64 = Callbacks.newID(), at time: Deadline, _ action: @escaping @Sendable () -> Void) {
        add(id, Entry(time: time, mayBlock: false, action: action))
    }

    private func add(_ id: UInt64, _ entry: Entry) {
        // The thread waits for the earliest time: a later one, as most are, need not wake it.
        state.withLock(waking: { state in
            state.entries[id] = entry
            state.queue.insert((entry.time, id))
            return ((), wakes: state.queue.first?.id == id)
        })
        _ = begin()
    }

    /// Starts the thread unless it is running; returns `false` if it cannot be created.
    ///
    /// The next scheduled action tries again.
    @discardableResult
    func begin() -> Bool {
        let needsThread = state.withLock(waking: { state in
            defer { state.isRunning = true }
            return (!state.isRunning, wakes: false)
        })
        if !needsThread || HostThread.tryStart("bp-clock", { self.run() }) { return true }
        state.withLock { $0.isRunning = false }
        return false
    }

    package func cancel(_ id: UInt64) {
        // The thread notices when the time comes; it is woken only if it may end before.
        state.withLock(waking: { state in
            guard state.entries.removeValue(forKey: id) != nil else { return ((), wakes: false) }
            if state.queue.count > 64, state.queue.count > 2 * state.entries.count {
                let entries = state.entries
                state.queue.keep { entries[$0.id] != nil }
            }
            return ((), wakes: state.isRetired)
        })
    }

    /// Suspends the task for a duration without occupying a thread.
    func pause(_ duration: Duration, _ id: UInt64 = Callbacks.newID()) async {
        await withUnsafeContinuation { continuation in look(id, at: .now + duration) { continuation.resume() } }
    }

    func endPause(_ id: UInt64) {
        state.withLock { $0.entries.removeValue(forKey: id) }?.action()
    }

    /// Lets the thread end once nothing is scheduled.
    func retire() {
        state.withLock { $0.isRetired = true }
    }

    private func run() {
        while let entry = next() {
            if entry.mayBlock { work.begin(by: self, entry.action) } else { entry.action() }
        }
    }

    private func next() -> Entry? {
        state.wait { state in
            while let first = state.queue.first {
                guard let entry = state.entries[first.id], entry.time == first.due else {
                    state.queue.removeFirst()
                    continue
                }
                guard first.due <= .now else { return .until(first.due) }
                state.queue.removeFirst()
                state.entries[first.id] = nil
                return .done(entry)
            }
            guard state.isRetired else { return .until(nil) }
            state.isRunning = false
            return .done(nil)
        }
    }
}

/// The pending times of a clock, the earliest first, as a binary heap.
///
/// A withdrawn item remains in the queue until its time, and is recognised by it.
struct DueQueue: Sendable {
    typealias Item = (due: Deadline, id: UInt64)
    private var items: [Item] = []

    var first: Item? { items.first }
    var count: Int { items.count }

    mutating func insert(_ item: Item) {
        items.append(item)
        var at = items.count - 1
        while at > 0, items[at].due < items[(at - 1) / 2].due {
            items.swapAt(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }

    mutating func removeFirst() {
        items.swapAt(0, items.count - 1)
        items.removeLast()
        var at = 0
        while true {
            var least = at
            for child in [2 * at + 1, 2 * at + 2] where child < items.count && items[child].due < items[least].due {
                least = child
            }
            if least == at { return }
            items.swapAt(at, least)
            at = least
        }
    }

    mutating func keep(where isWanted: (Item) -> Bool) {
        let kept = items.filter(isWanted)
        items = []
        for item in kept { insert(item) }
    }
}

extension Double {
    /// The number as seconds since 1970, in the local time zone and to the second: `2026-03-01 17:04:09`.
    package var localTime: String {
        var seconds = time_t(self), parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "\(self)" }
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
