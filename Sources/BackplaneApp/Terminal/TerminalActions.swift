import BackplaneScreens
import Synchronization

/// The actions of a person that a window performs: events one after another, and everything else at once.
///
/// A screen that handles an event slowly therefore holds nothing else up.
final class TerminalActions: Sendable {
    private struct State {
        var events = EventQueue()
        /// The task that sends the events; `nil` if there are none.
        var sender: Task<Void, Never>?
        /// The number of other actions that are under way.
        var others = 0
        var isFollowing = false

        /// Returns the next event, or notes that there is none.
        mutating func next() -> EventQueue.Entry? {
            let next = events.next()
            if next == nil { sender = nil }
            return next
        }
    }
    private let window: Window
    private let state = Mutex(State())
    /// The number of actions from which on others are not begun.
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
            state.events.add(event, to: screen)
            if state.sender == nil { state.sender = Task { await sendAll() } }
        }
    }

    private func sendAll() async {
        while let next = state.withLock({ $0.next() }) { await window.send(next.event, to: next.screen) }
    }

    /// A Boolean value that indicates whether events, or actions in order, are under way.
    var isBusy: Bool { state.withLock { $0.sender != nil } }

    /// Performs actions one after another, and calls a function at the end.
    func performInOrder(_ actions: [WindowAction], _ end: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.sender = Task {
                for action in actions { await window.perform(action) }
                self.state.withLock { $0.sender = nil }
                end()
            }
        }
    }

    /// Cancels the events that are under way, and drops those that wait.
    func end() {
        state.withLock { state in
            state.events = EventQueue()
            state.sender?.cancel()
        }
    }
}

/// The events that wait for their screens, in order; of several changes of a control, only the last one.
struct EventQueue: Sendable {
    struct Entry: Sendable, Equatable {
        var event: ViewEvent
        var screen: Int
    }
    private var entries: [Entry] = []
    /// The number of entries beyond which events are dropped, as a keyboard does with keys.
    static let most = 100

    mutating func add(_ event: ViewEvent, to screen: Int) {
        if let last = entries.last, last.screen == screen, event.kind == .change, last.event.kind == .change,
            last.event.id == event.id, last.event.rows == event.rows
        {
            entries.removeLast()
        }
        if entries.count < Self.most { entries.append(Entry(event: event, screen: screen)) }
    }

    mutating func next() -> Entry? { entries.isEmpty ? nil : entries.removeFirst() }
}
