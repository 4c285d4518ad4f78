/// The graph of the uses of components by one another, by number.
///
/// No function recurses, because a chain may be as long as the manifest.
struct UseGraph {
    /// The numbers that each number uses.
    let uses: [[Int]]

    /// Returns the strongly connected components, used ones before their users.
    ///
    /// Most have only one member. This is Tarjan's algorithm with an explicit stack.
    func components() -> [[Int]] {
        var components: [[Int]] = []
        var (order, lowest) = ([Int?](repeating: nil, count: uses.count), [Int](repeating: 0, count: uses.count))
        var isOpen = [Bool](repeating: false, count: uses.count)
        var (open, visits, count) = ([Int](), [(node: Int, next: Int)](), 0)

        func enter(_ node: Int) {
            (order[node], lowest[node], isOpen[node]) = (count, count, true)
            count += 1
            open.append(node)
            visits.append((node, 0))
        }
        for start in uses.indices where order[start] == nil {
            enter(start)
            while let (node, next) = visits.last {
                if next < uses[node].count {
                    visits[visits.count - 1].next += 1
                    let used = uses[node][next]
                    if let seen = order[used] {
                        if isOpen[used] { lowest[node] = min(lowest[node], seen) }
                    } else {
                        enter(used)
                    }
                    continue
                }
                visits.removeLast()
                if let user = visits.last?.node { lowest[user] = min(lowest[user], lowest[node]) }
                guard lowest[node] == order[node], let first = open.lastIndex(of: node) else { continue }
                let component = open[first...].sorted()
                open.removeSubrange(first...)
                for member in component { isOpen[member] = false }
                components.append(component)
            }
        }
        return components
    }

    /// Returns a shortest cycle from a number within its component; `nil` if there is none.
    func circle(from start: Int, within group: Set<Int>) -> [Int]? {
        var users: [Int: Int] = [:]
        var waiting = [start]
        var next = 0
        while next < waiting.count {
            let node = waiting[next]
            next += 1
            for used in uses[node] where group.contains(used) {
                if used == start {
                    return Array(sequence(first: node) { $0 == start ? nil : users[$0] }.reversed())
                }
                if users[used] == nil {
                    users[used] = node
                    waiting.append(used)
                }
            }
        }
        return nil
    }
}
