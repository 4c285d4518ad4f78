/// The decisions of a queue about which ready nodes of its graphs begin.
///
/// Nodes of higher priority come first, and among equals those that became ready first.
struct QueueScheduler<Entry: Sendable>: Sendable {
    /// The maximum number of nodes that run concurrently.
    let width: Int
    /// The number of places that are taken. It exceeds the width while more suspended nodes have been resumed than fit.
    private(set) var occupied = 0
    private var lanes = NodePriority.allCases.map { _ in FIFOQueue<Entry>() }

    init(width: Int) { self.width = width }

    /// Adds a node that is ready.
    mutating func add(_ entry: Entry, _ priority: NodePriority) { lanes[Int(priority.rawValue)].append(entry) }

    /// Releases places; a negative number takes them.
    mutating func free(_ places: Int) { occupied -= places }

    /// Takes a place and returns the node to begin next, or `nil` if there is no ready node or no place.
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

/// A queue whose elements leave in the order in which they came, at a cost that does not depend on its length.
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
