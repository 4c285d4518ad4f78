/// The decisions of a queue about which ready nodes of its graphs start.
///
/// Nodes of higher priority come first; among nodes of equal priority, those that became ready first.
struct QueueScheduler<Entry: Sendable>: Sendable {
    /// The maximum number of nodes that run concurrently.
    let width: Int
    /// The number of running nodes that count. It exceeds the width while more suspended nodes have been resumed than
    /// it allows.
    private(set) var occupied = 0
    private var lanes = NodePriority.allCases.map { _ in FIFOQueue<Entry>() }

    init(width: Int) { self.width = width }

    /// Adds a node that is ready.
    mutating func add(_ entry: Entry, _ priority: NodePriority) { lanes[Int(priority.rawValue)].append(entry) }

    /// Subtracts from the number of running nodes; a negative number adds to it.
    mutating func free(_ places: Int) { occupied -= places }

    /// Returns the node to start next and counts it, or returns `nil` if no node is ready or the width is reached.
    mutating func next() -> Entry? {
        guard occupied < width else { return nil }
        for lane in lanes.indices.reversed() {
            guard let entry = lanes[lane].popFirst() else { continue }
            occupied += 1
            return entry
        }
        return nil
    }
}

/// A first-in, first-out queue whose operations take constant time.
struct FIFOQueue<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var first = 0

    var isEmpty: Bool { first == elements.count }
    var count: Int { elements.count - first }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard first < elements.count else { return nil }
        let element = elements[first].take()
        first += 1
        if first == elements.count {
            elements.removeAll(keepingCapacity: first <= 1_024)
            first = 0
        } else if first >= 64, first * 2 > elements.count {
            elements.removeFirst(first)
            first = 0
        }
        return element
    }

    mutating func removeAll() { (elements, first) = ([], 0) }
}
