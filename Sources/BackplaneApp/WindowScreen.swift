import Backplane
import BackplaneHost
import BackplaneNetwork
public import BackplaneScreens
import Synchronization

/// An open screen that was assembled for a window.
///
/// A screen is closed when it leaves its window. A closed screen cannot be shown again.
public final class WindowScreen: Sendable {
    private struct State {
        var drawing: ScreenDrawing
        /// The task that reads the requests of the screen; `nil` before the screen is in its window.
        var reader: Task<Void, Never>?
        /// A Boolean value that indicates whether no further drawing will come.
        var hasEnded = false
        var isClosed = false
        /// The tasks that wait for a drawing.
        var waiting: [(revision: Int, continuation: CheckedContinuation<Void, Never>)] = []
        /// The number of segues and dismissals that have not ended.
        var requests = 0
        /// The errors since the latest success of a segue or a dismissal, which have been shown to the person.
        var segueErrors: [BackplaneError] = []

        /// Removes and returns the tasks whose drawing has arrived, or will never arrive.
        mutating func arrivals() -> [CheckedContinuation<Void, Never>] {
            let (isOver, revision) = (hasEnded || isClosed, drawing.revision)
            defer { waiting.removeAll { isOver || $0.revision <= revision } }
            return waiting.filter { isOver || $0.revision <= revision }.map(\.continuation)
        }
    }
    /// The maximum number of segues and dismissals of a screen that have not ended.
    static let requestLimit = 100
    /// The number of the screen, which no other screen of the host has had.
    public let number: Int
    /// The identifier with which the screen was requested.
    public var identifier: String { destination.screen }
    /// The identifier and the input with which the screen was assembled.
    public let destination: Destination
    weak let window: Window?
    private let source: any ScreenSource
    private let state: Mutex<State>

    private init(
        _ number: Int, _ destination: Destination, _ drawing: ScreenDrawing, from source: any ScreenSource,
        in window: Window
    ) {
        (self.number, self.destination, self.source) = (number, destination, source)
        self.window = window
        state = Mutex(State(drawing: drawing))
    }

    /// The current drawing of the screen.
    public var drawing: ScreenDrawing { state.withLock(\.drawing) }

    var isClosed: Bool { state.withLock(\.isClosed) }
}

// MARK: Assembly

extension WindowScreen {
    /// Assembles a screen within a limit.
    ///
    /// - Throws: The error of the screen; `screen.not-assembled` after the limit; the assembly then has no effect.
    static func assemble(
        _ destination: Destination, from source: any ScreenSource, in window: Window, within limit: Duration
    ) async throws(BackplaneError) -> WindowScreen {
        let host = window.app.host, number = host.screens.newNumber()
        let request = ScreenRequest(number: number, screen: destination.screen, input: destination.input)
        do {
            let drawing = try await Race.run(
                by: host.clock, { try await source.open(request) }, within: limit,
                otherwise: BackplaneError(
                    .screenNotAssembled, "`\(destination.screen)` was not assembled within \(limit)"))
            return WindowScreen(number, destination, drawing, from: source, in: window)
        } catch {
            // Closing has an effect only if the screen has just been assembled, or is assembled later.
            Task { await source.close(number) }
            throw BackplaneError(thrown: error)
        }
    }
}

// MARK: Requests of the screen

extension WindowScreen {
    /// Begins to read the requests of the screen, once it is in its window.
    func follow() {
        state.withLock { state in
            guard state.reader == nil, !state.isClosed else { return }
            state.reader = Task { await read() }
        }
    }

    private func read() async {
        var error = BackplaneError(.screenClosed, "the screen has ended")
        do {
            try await source.changes(after: ScreenProgress(screen: number, revision: drawing.revision)) { change in
                try receive(change)
            }
        } catch let failure {
            error = BackplaneError(thrown: failure)
        }
        let (isClosed, arrivals) = state.withLock { state in
            state.hasEnded = true
            return (state.isClosed, state.arrivals())
        }
        for arrival in arrivals { arrival.resume() }
        if !isClosed { window?.lost(self, error) }
    }

    private func receive(_ change: ScreenChange) throws(BackplaneError) {
        if let drawing = change.drawing {
            window?.redraw(self) { state.withLock { $0.drawing = drawing } }
            for arrival in state.withLock({ $0.arrivals() }) { arrival.resume() }
        }
        if let segue = change.segue {
            try countRequest()
            window?.request(segue, of: self)
        }
        if let number = change.dismissal {
            try countRequest()
            window?.requestDismissal(number, of: self)
        }
    }

    /// Counts a segue or a dismissal that begins.
    ///
    /// - Throws: `call.overloaded` if too many have not ended, which would use up all memory.
    private func countRequest() throws(BackplaneError) {
        let count = state.withLock { state in
            state.requests += 1
            return state.requests
        }
        guard count > Self.requestLimit else { return }
        throw BackplaneError(
            .callOverloaded, "more than \(Self.requestLimit) segues and dismissals of the screen have not ended")
    }

    /// Lets the screen handle an event, and waits for the drawing that follows.
    func handle(_ event: ViewEvent) async throws(BackplaneError) {
        let revision = try await source.handle(ScreenEvent(screen: number, event: event))
        await withCheckedContinuation { continuation in
            let arrivals = state.withLock { state in
                state.waiting.append((revision, continuation))
                return state.arrivals()
            }
            for arrival in arrivals { arrival.resume() }
        }
    }

    /// Notifies the screen of the end of a segue or a dismissal.
    func end(_ segue: Segue.Number, _ error: BackplaneError?) async {
        state.withLock { state in
            state.requests -= 1
            if let error { state.segueErrors.append(error) } else { state.segueErrors = [] }
            // A screen need not pass errors on.
            if state.segueErrors.count > Self.requestLimit { state.segueErrors.removeFirst() }
        }
        await source.end(SegueEnd(screen: number, segue: segue, error: error))
    }

    /// Returns whether a screen only passes on the error of a segue; a second equal error is the screen's own.
    func passesOn(_ error: BackplaneError) -> Bool {
        state.withLock { state in
            guard let index = state.segueErrors.firstIndex(of: error) else { return false }
            state.segueErrors.remove(at: index)
            return true
        }
    }

    /// Closes the screen, and waits until its source is notified; does nothing the second time.
    func close() async {
        guard leave() else { return }
        await source.close(number)
    }

    /// Ends the activity of the screen in its window; returns `false` if it had ended before.
    private func leave() -> Bool {
        let (isFirst, reader, arrivals) = state.withLock { state in
            let isFirst = !state.isClosed
            state.isClosed = true
            return (isFirst, state.reader, state.arrivals())
        }
        reader?.cancel()
        for arrival in arrivals { arrival.resume() }
        return isFirst
    }
}
