/// A gate that a test keeps closed to make assertions while tasks wait, without using delays.
///
/// ```swift
/// let gate = TestGate()
/// host.http.on("GET", url, .json(text: "[]").held(at: gate))
/// async let books = library.search(query)
/// try await gate.arrivals()                       // the request is in flight
/// gate.open()
/// ```
public final class TestGate: Sendable {
    private struct State: Sendable {
        var isOpen: Bool
        var arrivals = 0
    }
    private let state: WatchedState<State>

    /// Creates a gate, closed by default.
    public init(isOpen: Bool = false) { state = WatchedState(State(isOpen: isOpen)) }

    /// Opens the gate for all waiting and arriving tasks.
    public func open() { state.change { $0.isOpen = true } }

    /// Closes the gate for all tasks that arrive from now on.
    public func close() { state.change { $0.isOpen = false } }

    /// Waits until the gate is open.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the gate opens.
    public func pass() async throws {
        state.change { $0.arrivals += 1 }
        try await state.wait { $0.isOpen }
    }

    /// The number of arrivals since the gate's creation.
    package var arrived: Int { state.value.arrivals }

    /// Waits for at least `count` arrivals since the gate's creation, including tasks that have passed.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func arrivals(_ count: Int = 1) async throws {
        try await state.wait { $0.arrivals >= count }
    }
}
