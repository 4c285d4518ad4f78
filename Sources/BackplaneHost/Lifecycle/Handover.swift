/// The constraints that a swap in progress puts on starts: which nodes must not start, and when to try again.
final class Handover {
    /// The ids of the nodes that the swap brings up.
    let incoming: Set<Int>
    /// The ids of the nodes that must not start meanwhile.
    var withheld: Set<Int>
    /// The starts that wait for the swap.
    private(set) var waiting: [UnsafeContinuation<Void, Never>] = []

    init(incoming: Set<Int>, withheld: Set<Int>) {
        (self.incoming, self.withheld) = (incoming, withheld)
    }

    /// Waits until callers are served by the new code, or the swap is over.
    func wait() async {
        await withUnsafeContinuation { waiting.append($0) }
    }

    /// Resumes the starts that wait.
    func end() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
