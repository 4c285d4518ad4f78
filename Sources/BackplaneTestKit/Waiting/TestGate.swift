/// A gate that a test holds shut to see what happens meanwhile, in place of a delay.
///
/// ```swift
/// let gate = TestGate()
/// host.http.on("GET", url, .json(text: "[]").held(at: gate))
/// async let books = library.search(query)
/// try await gate.arrivals()                       // the request is under way
/// gate.open()
/// ```
public final class TestGate: Sendable {
    private struct State: Sendable {
        var isOpen: Bool
        var arrivals = 0
    }
    private let state: WatchedState<State>

    public init(isOpen: Bool = false) { state = WatchedState(State(isOpen: isOpen)) }

    /// Lets everyone through who waits or comes.
    public func open() { state.change { $0.isOpen = true } }

    /// Lets nobody through who comes from now on.
    public func close() { state.change { $0.isOpen = false } }

    /// Waits here while the gate is shut.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before the gate opens.
    public func pass() async throws {
        state.change { $0.arrivals += 1 }
        try await state.wait { $0.isOpen }
    }

    /// Waits until so many have come to the gate since it was made, whether they are through or not.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before.
    public func arrivals(_ count: Int = 1) async throws {
        try await state.wait { $0.arrivals >= count }
    }
}
