import Testing

@testable import BackplaneTransfers

/// The order of places: limits, priorities, and owners that get as much as each other.
struct TransferQueueTests {
    private func add(
        _ queue: inout TransferQueue, _ numbers: some Sequence<Int>, _ owner: String = "", host: String = "h",
        priority: Int = 0
    ) {
        for number in numbers { queue.add(number, priority: priority, owner: ExactText(owner), host: host) }
    }

    private func all(_ queue: inout TransferQueue) -> [Int] {
        var numbers: [Int] = []
        while let number = queue.next() { numbers.append(number) }
        return numbers
    }

    @Test func `no more run at once than may, in all and with one host`() {
        var queue = TransferQueue(concurrent: 5, perHost: 2)
        add(&queue, 1...4, host: "a")
        add(&queue, 5...8, host: "b")
        add(&queue, 9...9, host: "c")
        #expect(all(&queue) == [1, 2, 5, 6, 9])
        queue.ended(5)
        #expect(all(&queue) == [7])
        queue.ended(1)
        queue.ended(9)
        #expect(all(&queue) == [3])
    }

    @Test func `a greater priority comes first, and equal ones in their order`() {
        var queue = TransferQueue(concurrent: 1, perHost: 1)
        add(&queue, [1, 2])
        add(&queue, [3, 4], priority: 1)
        add(&queue, [5], priority: -1)
        var order: [Int] = []
        while let number = queue.next() {
            order.append(number)
            queue.ended(number)
        }
        #expect(order == [3, 4, 1, 2, 5])
    }

    @Test func `an owner with a thousand transfers leaves the others their places`() {
        var queue = TransferQueue(concurrent: 4, perHost: 4)
        add(&queue, 1...1_000, "many")
        add(&queue, 1_001...1_002, "few")
        #expect(all(&queue) == [1, 1_001, 2, 1_002])
        // The one that comes later gets the next place.
        add(&queue, [2_000], "late")
        queue.ended(2)
        #expect(all(&queue) == [2_000])
    }

    @Test func `owners take turns while there is one place`() {
        var queue = TransferQueue(concurrent: 1, perHost: 1)
        add(&queue, 1...3, "a")
        add(&queue, 11...13, "b")
        var order: [Int] = []
        while let number = queue.next() {
            order.append(number)
            queue.ended(number)
        }
        #expect(order == [1, 11, 2, 12, 3, 13])
    }

    @Test func `one that was taken out gets no place, and may come again`() {
        var queue = TransferQueue(concurrent: 10, perHost: 10)
        add(&queue, 1...3)
        queue.remove(1)
        queue.remove(3)
        #expect(all(&queue) == [2])
        add(&queue, [1])
        #expect(all(&queue) == [1])
        queue.remove(1)
        queue.ended(2)
        queue.ended(2)
        add(&queue, [4])
        #expect(all(&queue) == [4])
    }

    @Test func `whatever comes and goes, the limits hold and nobody is forgotten`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            let concurrent = Int.random(in: 1...6, using: &random), perHost = Int.random(in: 1...4, using: &random)
            var queue = TransferQueue(concurrent: concurrent, perHost: perHost)
            var host: [Int: String] = [:], waiting: Set<Int> = [], running: Set<Int> = [], done: Set<Int> = []
            for number in 0..<200 {
                let name = ["a", "b", "c"].randomElement(using: &random) ?? "a"
                add(&queue, [number], "\(number % 3)", host: name, priority: number % 2)
                host[number] = name
                waiting.insert(number)
                while let next = queue.next() {
                    #expect(waiting.remove(next) != nil)
                    running.insert(next)
                }
                #expect(running.count <= concurrent)
                for name in ["a", "b", "c"] { #expect(running.count { host[$0] == name } <= perHost) }
                if Bool.random(using: &random), let end = running.randomElement(using: &random) {
                    queue.ended(end)
                    running.remove(end)
                    done.insert(end)
                }
            }
            repeat {
                for end in running { queue.ended(end) }
                done.formUnion(running)
                running = []
                while let next = queue.next() {
                    waiting.remove(next)
                    running.insert(next)
                }
            } while !running.isEmpty
            #expect(waiting.isEmpty && done.count == 200)
        }
    }
}
