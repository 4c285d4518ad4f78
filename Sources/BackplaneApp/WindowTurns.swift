import Backplane
import BackplaneScreens
import Synchronization

/// The transitions of a window, which take place one after another, in the order in which they are requested.
final class WindowTurns: Sendable {
    /// A transition that takes place.
    private final class Turn: Sendable {
        let owner: ObjectIdentifier
        /// The actions to run after the transition; `nil` once it has ended.
        let rest = Mutex<[@Sendable () -> Void]?>([])

        init(of owner: WindowTurns) { self.owner = ObjectIdentifier(owner) }

        var isUnderWay: Bool { rest.withLock { $0 != nil } }

        /// Keeps an action for the end of the transition; returns `false` if the transition has ended.
        func keep(_ action: @escaping @Sendable () -> Void) -> Bool {
            rest.withLock { rest in
                rest?.append(action)
                return rest != nil
            }
        }

        func end() {
            for action in rest.withLock({ $0.take() }) ?? [] { action() }
        }
    }
    typealias Transition = @Sendable () async throws(BackplaneError) -> Void
    /// A transition that was requested, which first waits for its turn.
    typealias Request = Task<Result<Void, BackplaneError>, Never>
    private struct State {
        var isOver = false
        /// The number of the latest request.
        var last = 0
        /// The latest request, unless it has ended; the next one follows it.
        var latest: Request?
        /// The segues that have not ended, by number.
        var segues: [Int: Request] = [:]

        mutating func remove(_ number: Int) {
            segues[number] = nil
            if number == last { latest = nil }
        }
    }
    @TaskLocal private static var current: Turn?
    private let state = Mutex(State())

    /// Accepts no further transitions; the waiting ones still run.
    func end() { state.withLock { $0.isOver = true } }

    /// Runs a transition in its turn.
    ///
    /// - Parameter isSegue: Whether ``cancelSegues()`` cancels the transition.
    func add(isSegue: Bool = false, _ transition: @escaping Transition) { _ = enqueue(transition, isSegue) }

    /// Runs a transition in its turn, or at once within another one.
    ///
    /// - Parameter isSegue: Whether ``cancelSegues()`` cancels the transition.
    /// - Throws: The error of the transition; `screen.closed` after the end.
    func take(isSegue: Bool = false, _ transition: @escaping Transition) async throws(BackplaneError) {
        if own != nil { return try await transition() }
        guard let request = enqueue(transition, isSegue) else { throw .screenClosed }
        try await request.value.get()
    }

    /// Cancels the segues that have not ended, and returns them; returns none within a transition, which may be one of
    /// them.
    @discardableResult
    func cancelSegues() -> [Request] {
        guard own == nil else { return [] }
        let segues = state.withLock { Array($0.segues.values) }
        for segue in segues { segue.cancel() }
        return segues
    }

    /// Runs an action at the end of the transition in which this is called, or at once outside of one.
    func afterwards(_ action: @escaping @Sendable () -> Void) {
        if own?.keep(action) != true { action() }
    }

    /// The transition in which this is called; `nil` outside of one.
    private var own: Turn? {
        guard let turn = Self.current, turn.owner == ObjectIdentifier(self), turn.isUnderWay else { return nil }
        return turn
    }

    private func enqueue(_ transition: @escaping Transition, _ isSegue: Bool) -> Request? {
        state.withLock { state -> Request? in
            guard !state.isOver else { return nil }
            state.last += 1
            let number = state.last, former = state.latest
            let request: Request = Task.detached { [self] in
                _ = await former?.value
                defer { self.state.withLock { $0.remove(number) } }
                return await run(transition)
            }
            state.latest = request
            if isSegue { state.segues[number] = request }
            return request
        }
    }

    private func run(_ transition: Transition) async -> Result<Void, BackplaneError> {
        let turn = Turn(of: self)
        defer { turn.end() }
        return await Self.$current.withValue(turn) { () async -> Result<Void, BackplaneError> in
            do throws(BackplaneError) { return .success(try await transition()) } catch { return .failure(error) }
        }
    }
}
