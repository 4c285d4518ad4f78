/// The part of a swap under way that starts have to know: whom not to start, and when to look again.
final class Handover {
    /// The ids of the nodes that come up with it.
    let incoming: Set<Int>
    /// The ids of those that nobody starts meanwhile.
    var withheld: Set<Int>
    /// Those who wait for it.
    private(set) var waiting: [UnsafeContinuation<Void, Never>] = []

    init(incoming: Set<Int>, withheld: Set<Int>) {
        (self.incoming, self.withheld) = (incoming, withheld)
    }

    /// Returns once callers are served by the new code, or it is over.
    func wait() async {
        await withUnsafeContinuation { waiting.append($0) }
    }

    /// Has those who wait look again.
    func end() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
