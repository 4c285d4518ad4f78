import Synchronization

/// The transitions of a window, which take place one after another, in the order in which they are requested.
final class WindowTurns: Sendable {
    /// A transition that takes place.
    private final class Turn: Sendable {
        let owner: ObjectIdentifier
        /// What follows the transition; `nil` once it has ended.
        let rest = Mutex<[@Sendable () -> Void]?>([])

        init(of owner: WindowTurns) { self.owner = ObjectIdentifier(owner) }

        var isUnderWay: Bool { rest.withLock { $0 != nil } }

        /// Keeps an action for the end; returns `false` if that has passed.
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
    typealias Transition = @Sendable () async -> Void
    @TaskLocal private static var current: Turn?
    private let waiting: AsyncStream<Transition>.Continuation

    init() {
        let (turns, waiting) = AsyncStream.makeStream(of: Transition.self)
        self.waiting = waiting
        Task.detached {
            for await turn in turns { await turn() }
        }
    }

    deinit { waiting.finish() }

    /// Takes no further turns; those that wait are taken.
    func end() { waiting.finish() }

    /// Runs a transition in its turn.
    func add(_ transition: @escaping Transition) {
        waiting.yield { [self] in await run(transition) }
    }

    /// Runs a transition in its turn, or at once within another one, and returns its result; `nil` after the end.
    @discardableResult
    func take<Value: Sendable>(_ transition: @escaping @Sendable () async -> Value) async -> Value? {
        if own != nil { return await transition() }
        return await withCheckedContinuation { continuation in
            let turn: Transition = { [self] in continuation.resume(returning: await run(transition)) }
            if case .terminated = waiting.yield(turn) { continuation.resume(returning: nil) }
        }
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

    private func run<Value: Sendable>(_ transition: @Sendable () async -> Value) async -> Value {
        let turn = Turn(of: self)
        defer { turn.end() }
        return await Self.$current.withValue(turn) { await transition() }
    }
}
