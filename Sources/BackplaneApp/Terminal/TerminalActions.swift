import BackplaneScreens
import Synchronization

/// The actions of a person that a window performs: the events of a screen one after another, and everything else at
/// once.
///
/// A screen that handles an event slowly therefore delays only its own events.
final class TerminalActions: Sendable {
    /// The events that wait for a screen, and the task that sends them.
    private struct Sender {
        var events = EventQueue()
        let task: Task<Void, Never>
    }
    private struct State {
        /// The senders of the screens with events, by the number of the screen.
        var senders: [Int: Sender] = [:]
        /// The task that performs actions in order; `nil` if there are none.
        var inOrder: Task<Void, Never>?
        /// The number of other actions that are under way.
        var others = 0
        var isFollowing = false

        /// Returns the next event for a screen, or notes that there is none.
        mutating func next(for screen: Int) -> ViewEvent? {
            let next = senders[screen]?.events.next()
            if next == nil { senders[screen] = nil }
            return next
        }
    }
    private let window: Window
    private let state = Mutex(State())
    /// The maximum number of actions under way, beyond which others are not begun.
    private static let most = 100

    init(_ window: Window) { self.window = window }

    func perform(_ action: WindowAction) {
        if case .send(let event, let screen) = action { return send(event, to: screen) }
        var follows = false
        if case .follow = action { follows = true }
        let isPossible = state.withLock { state in
            // As in a browser, a second link is not followed meanwhile.
            guard state.others < Self.most, !(follows && state.isFollowing) else { return false }
            state.others += 1
            if follows { state.isFollowing = true }
            return true
        }
        guard isPossible else { return }
        // Immediate, so that actions remain in order.
        Task.immediate { [self, follows] in
            await window.perform(action)
            state.withLock { state in
                state.others -= 1
                if follows { state.isFollowing = false }
            }
        }
    }

    private func send(_ event: ViewEvent, to screen: Int) {
        state.withLock { state in
            if state.senders[screen] == nil {
                state.senders[screen] = Sender(task: Task { await sendAll(to: screen) })
            }
            state.senders[screen]?.events.add(event)
        }
    }

    private func sendAll(to screen: Int) async {
        while let event = state.withLock({ $0.next(for: screen) }) { await window.send(event, to: screen) }
    }

    /// A Boolean value that indicates whether actions in order are under way.
    var isBusy: Bool { state.withLock { $0.inOrder != nil } }

    /// Performs actions one after another, and calls a function at the end.
    func performInOrder(_ actions: [WindowAction], _ end: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.inOrder = Task {
                for action in actions { await window.perform(action) }
                self.state.withLock { $0.inOrder = nil }
                end()
            }
        }
    }

    /// Cancels the events and the actions in order that are under way, and drops the events that wait.
    func end() {
        state.withLock { state in
            for sender in state.senders.values { sender.task.cancel() }
            state.senders = [:]
            state.inOrder?.cancel()
        }
    }
}

/// The events that wait for a screen, in order, with only the last of several changes of a control.
struct EventQueue: Sendable {
    private var events: [ViewEvent] = []
    /// The number of events beyond which others are dropped, as a keyboard does with keys.
    static let most = 100

    mutating func add(_ event: ViewEvent) {
        if let last = events.last, event.kind == .change, last.kind == .change, last.id == event.id,
            last.rows == event.rows
        {
            events.removeLast()
        }
        if events.count < Self.most { events.append(event) }
    }

    mutating func next() -> ViewEvent? { events.isEmpty ? nil : events.removeFirst() }
}
