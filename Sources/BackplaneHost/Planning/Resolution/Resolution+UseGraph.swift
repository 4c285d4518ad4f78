extension Resolution {
    /// The graph of the managers' uses of one another, by number.
    ///
    /// No function recurses, because a chain may be as long as the manifest.
    struct UseGraph {
        /// The numbers that each number uses, in ascending order.
        let uses: [[Int]]

        /// Returns the strongly connected components, used ones before their users; most have only one member.
        ///
        /// This is Tarjan's algorithm with an explicit stack.
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

        /// Returns the chosen numbers, each after those that it uses, otherwise in ascending order.
        ///
        /// Numbers in or behind a cycle are omitted.
        func order(of isChosen: (Int) -> Bool) -> [Int] {
            var users = [[Int]](repeating: [], count: uses.count)
            var missing = [Int](repeating: 0, count: uses.count)
            for node in uses.indices {
                missing[node] = uses[node].count
                for used in uses[node] { users[used].append(node) }
            }
            var (order, ready) = ([Int](), Queue(uses.indices.filter { missing[$0] == 0 && isChosen($0) }))
            while let node = ready.popSmallest() {
                order.append(node)
                for user in users[node] {
                    missing[user] -= 1
                    if missing[user] == 0, isChosen(user) { ready.insert(user) }
                }
            }
            return order
        }
    }

    /// A priority queue of numbers, the smallest first.
    private struct Queue {
        /// The numbers in descending order.
        private var numbers: [Int]

        init(_ ascending: [Int]) { numbers = ascending.reversed() }

        mutating func popSmallest() -> Int? { numbers.popLast() }

        mutating func insert(_ number: Int) {
            var (low, high) = (0, numbers.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[middle] > number { low = middle + 1 } else { high = middle }
            }
            numbers.insert(number, at: low)
        }
    }
}
