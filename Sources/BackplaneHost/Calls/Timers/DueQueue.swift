import Backplane

/// The queue of pending timers, the earliest first, as a binary heap.
///
/// A withdrawn timer remains in the queue until its time, and is recognised by its due time.
struct DueQueue: Sendable {
    typealias Item = (due: Deadline, timer: UInt64)
    private var items: [Item] = []

    var first: Item? { items.first }
    var count: Int { items.count }

    mutating func insert(_ item: Item) {
        items.append(item)
        var at = items.count - 1
        while at > 0, items[at].due < items[(at - 1) / 2].due {
            items.swapAt(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }

    mutating func removeFirst() {
        items.swapAt(0, items.count - 1)
        items.removeLast()
        var at = 0
        while true {
            var least = at
            for child in [2 * at + 1, 2 * at + 2] where child < items.count && items[child].due < items[least].due {
                least = child
            }
            if least == at { return }
            items.swapAt(at, least)
            at = least
        }
    }

    mutating func removeAll() { items = [] }

    /// Removes the items that do not meet a condition.
    mutating func keep(where isWanted: (Item) -> Bool) {
        let kept = items.filter(isWanted)
        items = []
        for item in kept { insert(item) }
    }
}
