/// The constraints of a swap in progress on starts: the nodes that must not start, and when to try again.
final class Handover {
    /// The ids of the nodes that the swap starts.
    let incoming: Set<Int>
    /// The ids of the nodes that must not start during the swap.
    var withheld: Set<Int>
    /// The starts that wait for the swap.
    private(set) var waiting: [UnsafeContinuation<Void, Never>] = []

    init(incoming: Set<Int>, withheld: Set<Int>) {
        (self.incoming, self.withheld) = (incoming, withheld)
    }

    /// Waits until callers are served by the new code, or the swap has ended.
    func wait() async {
        await withUnsafeContinuation { waiting.append($0) }
    }

    /// Resumes the waiting starts.
    func end() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
