import Backplane
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

/// Transactions of two plugins in every order of their steps: each order must have the outcome of one plugin's
/// transaction after the other's.
@Suite(.timeLimit(.minutes(10)))
struct SerialHistoryTests {
    struct Account: Record, Equatable {
        var id: String
        var balance: Int
        struct Indexes: RecordIndexes { let balance = Indexed<Int>("balance") }
    }

    /// A step of a transaction. What it writes depends on everything that the transaction has read.
    enum Step: Hashable, Sendable {
        case fetch(String)
        /// Reads the accounts of a range of balances, by their index.
        case range
        case count
        case save(String)
        case delete(String)
    }
    typealias Program = [Step]

    /// One or two reads, ranges among them, and a write.
    private static let programs: [Program] = {
        let reads: [[Step]] = [
            [.fetch("a")], [.range], [.count], [.fetch("a"), .fetch("b")], [.fetch("b"), .range],
            [.range, .fetch("c")],
        ]
        let writes: [Step] = [.save("a"), .save("b"), .save("c"), .delete("a")]
        return reads.flatMap { read in writes.map { read + [$0] } }
    }()

    /// The content of the store, and what the two transactions have read.
    struct Outcome: Hashable {
        var balances: [String: Int]
        var read: [[Int]]
    }

    /// Two components of two hosts on one engine, whose accounts are the same.
    private struct Plugins {
        let records: any RecordStore
        let first, second: LentStore

        init(_ records: any RecordStore) async throws {
            self.records = records
            (first, second) = (try await LentStore(records), try await LentStore(records))
            for lent in [first, second] { _ = try await lent.store.collection(Account.self).count() }
        }

        func stop() async {
            await first.stop()
            await second.stop()
        }

        func reset() async throws {
            try await first.store.collection(Account.self).replaceAll(with: [
                Account(id: "a", balance: 1), Account(id: "b", balance: 10),
            ])
        }

        func balances() async throws -> [String: Int] {
            Dictionary(
                uniqueKeysWithValues: try await first.store.collection(Account.self).all().map { ($0.id, $0.balance) })
        }
    }

    /// Runs a transaction and returns what its last attempt has read.
    ///
    /// - Parameter before: A function that is called before each step, and before the end.
    private func run(_ program: Program, as number: Int, _ store: Store, before: @Sendable () async -> Void = {})
        async throws -> [Int]
    {
        try await store.transaction(attempts: 100) { transaction in
            let accounts = transaction.collection(Account.self)
            var read: [Int] = []
            for step in program {
                await before()
                switch step {
                case .fetch(let id): read.append(try await accounts.fetch(id)?.balance ?? -1)
                case .range:
                    let rich = try await accounts.query(\.balance, from: 5, through: 5_000).all()
                    read += rich.map(\.balance) + [-2]
                case .count: read.append(try await accounts.count())
                case .save(let id):
                    // Another number for each transaction and everything that it may have read.
                    let sum = read.reduce(number) { ($0 * 31 + $1 + 7) % 9_973 }
                    try await accounts.save(Account(id: id, balance: sum))
                case .delete(let id): try await accounts.delete(id)
                }
            }
            await before()
            return read
        }
    }

    private func outcome(_ one: Program, _ other: Program, in plugins: Plugins, order: [Bool]) async throws -> Outcome {
        try await plugins.reset()
        let schedule = Schedule(order)
        async let first = schedule.following(true) { try await self.run(one, as: 1, plugins.first.store, before: $0) }
        async let second = schedule.following(false) {
            try await self.run(other, as: 2, plugins.second.store, before: $0)
        }
        let read = try await [first, second]
        return Outcome(balances: try await plugins.balances(), read: read)
    }

    private func serial(_ one: Program, _ other: Program, in plugins: Plugins) async throws -> Set<Outcome> {
        try await plugins.reset()
        let (first, second) = (
            try await run(one, as: 1, plugins.first.store), try await run(other, as: 2, plugins.second.store)
        )
        let forwards = Outcome(balances: try await plugins.balances(), read: [first, second])
        try await plugins.reset()
        let (late, early) = (
            try await run(other, as: 2, plugins.second.store), try await run(one, as: 1, plugins.first.store)
        )
        return [forwards, Outcome(balances: try await plugins.balances(), read: [early, late])]
    }

    /// All orders of a number of steps of each of two plugins.
    private static func orders(_ one: Int, _ other: Int) -> [[Bool]] {
        if one == 0 || other == 0 {
            return [Array(repeating: true, count: one) + Array(repeating: false, count: other)]
        }
        return orders(one - 1, other).map { [true] + $0 } + orders(one, other - 1).map { [false] + $0 }
    }

    /// - Parameter stride: Of the pairs of programs only each so many-th is run.
    private func check(_ records: any RecordStore, stride: Int) async throws {
        let plugins = try await Plugins(records)
        var checked = 0, pair = 0
        for (index, one) in Self.programs.enumerated() {
            for other in Self.programs[index...] {
                pair += 1
                guard pair.isMultiple(of: stride) else { continue }
                let serial = try await serial(one, other, in: plugins)
                for order in Self.orders(one.count + 1, other.count + 1) {
                    let outcome = try await outcome(one, other, in: plugins, order: order)
                    #expect(serial.contains(outcome), "\(one) and \(other) as \(order): \(outcome), not \(serial)")
                    checked += 1
                }
            }
        }
        #expect(checked > Nightly.count(50, night: 1_000))
        await plugins.stop()
    }

    @Test func `every order of the steps of two transactions in memory is that of one after the other`() async throws {
        try await check(MemoryRecordStore(), stride: Nightly.count(10, night: 1))
    }

    @Test func `orders of the steps of two transactions in a file are those of one after the other`() async throws {
        let files = try TestFolder(), folder = files.path
        try await check(
            SQLiteRecordStore(folder: folder, durability: .normal) { Issue.record("\($0)") },
            stride: Nightly.count(70, night: 7))
    }
}

/// The order in which two transactions take their steps; once it has ended, both go on freely.
private final class Schedule: Sendable {
    private struct State {
        /// The order, the next step last.
        var rest: [Bool]
        /// The transaction that may take its next step, and whether it has taken it.
        var isRunning = false
        var waiting: [Bool: CheckedContinuation<Void, Never>] = [:]
        var ended: Set<Bool> = []
    }
    private let state: Mutex<State>

    init(_ order: [Bool]) { state = Mutex(State(rest: order.reversed())) }

    /// Runs a transaction that calls a function before each of its steps.
    func following<Value: Sendable>(_ own: Bool, _ body: (_ before: @Sendable () async -> Void) async throws -> Value)
        async throws -> Value
    {
        let taken = Recorder(false)
        defer {
            state.withLock { state in
                state.ended.insert(own)
                if taken.value { state.isRunning = false }
            }
            advance()
        }
        return try await body {
            // The step before is over once the next one is about to begin.
            if taken.value { self.state.withLock { $0.isRunning = false } }
            await withCheckedContinuation { continuation in
                self.state.withLock { $0.waiting[own] = continuation }
                self.advance()
            }
            taken.value = true
        }
    }

    /// Lets the next one take its step, if none is under way and it is there.
    private func advance() {
        while true {
            let (next, isOver) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Bool) in
                guard !state.rest.isEmpty else {
                    guard let free = state.waiting.keys.first else { return (nil, true) }
                    return (state.waiting.removeValue(forKey: free), false)
                }
                guard !state.isRunning, let next = state.rest.last else { return (nil, true) }
                if state.ended.contains(next) {
                    state.rest.removeLast()
                    return (nil, false)
                }
                guard let waiting = state.waiting.removeValue(forKey: next) else { return (nil, true) }
                state.rest.removeLast()
                state.isRunning = true
                return (waiting, true)
            }
            next?.resume()
            if isOver { return }
        }
    }
}
