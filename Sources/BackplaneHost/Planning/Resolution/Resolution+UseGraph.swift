extension Resolution {
    /// Who uses whom, by number. None of its functions recurses: a chain may be as long as a manifest.
    struct UseGraph {
        /// For each number those it uses, ascending.
        let uses: [[Int]]

        /// The groups whose members all reach one another, used ones before their users (Tarjan's algorithm, with a stack of
        /// its own); most have one member.
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

        /// The members of a shortest circle that begins at a number and stays in its group; `nil` if it is in none.
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

        /// The chosen numbers, each after those it uses, otherwise ascending. Those in or behind a circle are left out.
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

    /// Numbers of which the smallest is at hand.
    private struct Queue {
        /// Descending.
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
