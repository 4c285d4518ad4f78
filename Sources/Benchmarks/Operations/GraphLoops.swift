import Backplane
import BackplaneOperations
import Foundation
import Glibc

/// The measured graphs, each of which is checked by its result; the functions return the processor time used.
enum GraphLoops {
    /// The width of a layer; each node depends on two nodes of the previous layer.
    private static let width = 100

    private struct WrongResult: Error, CustomStringConvertible {
        var description: String
    }

    /// Runs one task for each node, without any order.
    static func group(_ count: Int) async throws -> Duration {
        try await time {
            let sum = await withTaskGroup(of: Int.self) { group in
                for number in 0..<count { group.addTask { number } }
                return await group.reduce(0, &+)
            }
            try require(sum, count * (count - 1) / 2)
        }
    }

    /// Builds, runs and releases a graph in which each node adds the values of two others.
    static func layers(_ count: Int) async throws -> Duration {
        let expected = expectedLayers(count)
        return try await time {
            let graph = try builtLayers(count)
            try require(try await graph.start().value, expected)
        }
    }

    /// Builds, runs and releases a graph in which each node depends on the previous one.
    static func chain(_ count: Int) async throws -> Duration {
        try await time {
            var graph = GraphBuilder("chain")
            var last = graph.add("node") { 1 }
            for _ in 1..<max(1, count) { last = graph.add("node", after: last) { $0 &+ 1 } }
            try require(try await graph.build(returning: last).start().value, max(1, count))
        }
    }

    /// Runs the nodes of an existing graph, all of which wait for one node.
    static func run(waiting count: Int) async throws -> Duration {
        let expected = expectedLayers(count), gate = AsyncStream.makeStream(of: Void.self)
        let run = try builtLayers(count, after: gate.stream).start()
        return try await time {
            gate.continuation.finish()
            try require(try await run.value, expected)
        }
    }

    /// Cancels the nodes of a graph, all of which wait for one.
    static func cancel(waiting count: Int) async throws -> Duration {
        let gate = AsyncStream.makeStream(of: Void.self)
        let run = try builtLayers(count, after: gate.stream).start()
        return try await time {
            run.cancel()
            guard case .failure(let error) = await run.outcome, error.code == .callCancelled else {
                throw WrongResult(description: "a graph that was cancelled has not ended so")
            }
        }
    }

    /// Returns the number of bytes of memory that a node occupies while its graph waits.
    static func memory(of count: Int) async throws -> Double {
        let gate = AsyncStream.makeStream(of: Void.self)
        trim()
        let before = try ProcessMemory.privateDirty()
        let run = try builtLayers(count, after: gate.stream).start()
        let bytes = (try ProcessMemory.privateDirty() - before) / Double(count)
        gate.continuation.finish()
        _ = try await run.value
        return bytes
    }

    /// Runs as many operations of Foundation with the same edges.
    static func operations(_ count: Int) async throws -> Duration {
        try await time {
            let queue = OperationQueue()
            var operations: [BlockOperation] = []
            operations.reserveCapacity(count)
            for number in 0..<count {
                let operation = BlockOperation {}
                for need in needs(of: number) { operation.addDependency(operations[need]) }
                operations.append(operation)
            }
            await withCheckedContinuation { continuation in
                let finish = BlockOperation { continuation.resume() }
                for operation in operations.suffix(width) { finish.addDependency(operation) }
                queue.addOperations(operations + [finish], waitUntilFinished: false)
            }
            guard operations.allSatisfy(\.isFinished) else {
                throw WrongResult(description: "an operation has not finished")
            }
        }
    }

    // MARK: Graphs

    private static func needs(of number: Int) -> [Int] {
        let layer = number / width
        guard layer > 0 else { return [] }
        let start = (layer - 1) * width
        return [start + number % width, start + (number + 1) % width]
    }

    private static func builtLayers(
        _ count: Int, after gate: AsyncStream<Void>? = nil
    ) throws -> OperationGraph<Int> {
        var graph = GraphBuilder("layers")
        let first = graph.add("gate") { if let gate { for await _ in gate {} } }
        var nodes: [GraphNode<Int>] = []
        nodes.reserveCapacity(count)
        for number in 0..<max(1, count) {
            let needs = needs(of: number)
            if needs.isEmpty {
                nodes.append(graph.add("node", after: first) { 1 })
            } else {
                nodes.append(graph.add("node", after: nodes[needs[0]], nodes[needs[1]]) { $0 &+ $1 })
            }
        }
        // The last node of a layer that is not full may need less than all before it.
        let sum = graph.add("sum", afterAll: Array(nodes.suffix(width))) { $0.reduce(0, &+) }
        return try graph.build(returning: sum)
    }

    private static func expectedLayers(_ count: Int) -> Int {
        var values: [Int] = []
        for number in 0..<max(1, count) {
            let needs = needs(of: number)
            values.append(needs.isEmpty ? 1 : values[needs[0]] &+ values[needs[1]])
        }
        return values.suffix(width).reduce(0, &+)
    }

    // MARK: Measuring

    private static func require(_ result: Int, _ expected: Int) throws {
        guard result == expected else {
            throw WrongResult(description: "a graph has the result \(result); expected \(expected)")
        }
    }

    private static func time(_ body: () async throws -> Void) async throws -> Duration {
        let before = processorTime()
        try await body()
        return processorTime() - before
    }

    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Returns the free memory of earlier graphs to the system, so that reused memory is counted.
    private static func trim() {
        typealias Function = @convention(c) (Int) -> Int32
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: Function.self)(0)
    }
}
