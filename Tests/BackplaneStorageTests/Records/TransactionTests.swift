import Backplane
import BackplaneRecords
import BackplaneStorage
import Foundation
import Testing

/// Transactions of data access controllers: of one state, all or nothing, and as if they came one after the other.
@Suite(.timeLimit(.minutes(5)))
struct TransactionTests {
    typealias Engine = RecordStoreTests.Engine

    struct Account: Record, Equatable {
        var id: String
        var balance: Int
        struct Indexes: RecordIndexes { let balance = Indexed<Int>("balance") }
    }
    struct Transfer: Record, Equatable {
        var id: String
        var amount: Int
    }
    struct Refusal: Error {}

    @Test(arguments: Engine.allCases) func `changes of several collections are made together or not at all`(
        engine: Engine
    ) async throws {
        try await engine.lend { store, _, _ in
            let accounts = store.collection(Account.self), transfers = store.collection(Transfer.self)
            try await accounts.save([Account(id: "a", balance: 10), Account(id: "b", balance: 0)])
            func move(_ amount: Int, failing: Bool) async throws -> Int {
                try await store.transaction { transaction in
                    let accounts = transaction.collection(Account.self)
                    var (a, b) = (try await accounts.fetch("a")!, try await accounts.fetch("b")!)
                    (a.balance, b.balance) = (a.balance - amount, b.balance + amount)
                    try await accounts.save([a, b])
                    try await transaction.collection(Transfer.self).save(Transfer(id: "\(amount)", amount: amount))
                    #expect(try await accounts.fetch("a") == a, "it finds what it has saved")
                    if failing { throw Refusal() }
                    return b.balance
                }
            }
            #expect(try await move(3, failing: false) == 3)
            await #expect(throws: Refusal.self) { try await move(4, failing: true) }
            #expect(try await accounts.all().map(\.balance) == [7, 3])
            #expect(try await transfers.all() == [Transfer(id: "3", amount: 3)])
        }
    }

    @Test(arguments: Engine.allCases) func `what has changed meanwhile runs the closure again`(engine: Engine)
        async throws
    {
        try await engine.lend { store, _, _ in
            let accounts = store.collection(Account.self)
            try await accounts.save(Account(id: "a", balance: 1))
            var attempts = 0
            try await store.transaction { transaction in
                attempts += 1
                let own = transaction.collection(Account.self)
                var a = try await own.fetch("a")!
                if attempts < 3 { try await accounts.save(Account(id: "a", balance: 10 * attempts)) }
                a.balance += 1
                try await own.save(a)
            }
            #expect(attempts == 3)
            #expect(try await accounts.fetch("a")?.balance == 21)
        }
    }

    @Test(arguments: Engine.allCases) func `a query conflicts with what it would have found`(engine: Engine)
        async throws
    {
        try await engine.lend { store, _, _ in
            let accounts = store.collection(Account.self)
            try await accounts.save(Account(id: "a", balance: 1))
            var sums: [Int] = []
            try await store.transaction { transaction in
                let own = transaction.collection(Account.self)
                let rich = try await own.query(\.balance, from: 1).all(), count = try await own.count()
                sums.append(rich.count + 100 * count)
                if sums.count == 1 { try await accounts.save(Account(id: "b", balance: 2)) }
                try await transaction.collection(Transfer.self).save(Transfer(id: "sum", amount: rich.count))
            }
            #expect(sums == [101, 202])
            #expect(try await store.collection(Transfer.self).fetch("sum")?.amount == 2)
        }
    }

    @Test(arguments: Engine.allCases)
    func `all reads are of one state, and a change of something else disturbs nobody`(engine: Engine) async throws {
        try await engine.lend { store, _, _ in
            let accounts = store.collection(Account.self)
            try await accounts.save(["a", "b", "c"].map { Account(id: $0, balance: 0) })
            var seen: [[Int]] = []
            try await store.transaction { transaction in
                let own = transaction.collection(Account.self)
                let a = try await own.fetch("a")!.balance
                switch seen.count {
                case 0:
                    // Both change, so that the next read is of another state than the first.
                    try await accounts.save([Account(id: "a", balance: 1), Account(id: "b", balance: 1)])
                case 1: try await accounts.save(Account(id: "c", balance: 5))
                default: Issue.record("a record that was not read is no conflict")
                }
                seen.append([a])
                let b = try await own.fetch("b")!.balance
                seen[seen.count - 1].append(b)
            }
            #expect(seen == [[0], [1, 1]])
        }
    }

    @Test(arguments: Engine.allCases) func `a transaction that always conflicts is given up with the conflict`(
        engine: Engine
    ) async throws {
        try await engine.lend { store, _, _ in
            let accounts = store.collection(Account.self)
            try await accounts.save(Account(id: "a", balance: 0))
            var attempts = 0
            let error = await storeError {
                try await store.transaction(attempts: 5) { transaction in
                    attempts += 1
                    let own = transaction.collection(Account.self)
                    let a = try await own.fetch("a")!
                    try await accounts.save(a)
                    // A closure that catches everything does not hide it.
                    _ = try? await own.save(a)
                }
            }
            #expect(attempts == 5)
            #expect(error?.code == .storeConflict && error?.location == #"Account/"a""#, "\(error as Any)")
            #expect(error?.message.contains("after 5 attempts") == true)
            #expect(error?.causes.first?.code == .storeConflict)
        }
    }

    @Test(arguments: Engine.allCases) func `a condition of the closure's own is no reason to run it again`(
        engine: Engine
    ) async throws {
        try await engine.lend { store, _, _ in
            let accounts = store.collection(Account.self)
            let version = try await accounts.save(Account(id: "a", balance: 0))
            var attempts = 0
            let error = await storeError {
                try await store.transaction { transaction in
                    attempts += 1
                    try await transaction.collection(Account.self).saveIfAbsent(Account(id: "a", balance: 1))
                }
            }
            #expect(attempts == 1 && error?.code == .storeConflict)
            try await store.transaction { transaction in
                let own = transaction.collection(Account.self)
                try await own.save(Account(id: "a", balance: 2), ifVersion: version)
                let again = try await own.fetchVersioned("a")!
                try await own.save(Account(id: "a", balance: 3), ifVersion: again.version)
                try await own.saveIfAbsent(Account(id: "b", balance: 4))
                let twice = await storeError { try await own.saveIfAbsent(Account(id: "b", balance: 5)) }
                #expect(twice?.code == .storeConflict)
            }
            #expect(try await accounts.all().map(\.balance) == [3, 4])
        }
    }

    /// Eight tasks add to the same two records; every addition is found at the end.
    @Test(arguments: Engine.allCases) func `no update is lost`(engine: Engine) async throws {
        try await engine.lend { store, _, _ in
            let accounts = store.collection(Account.self)
            try await accounts.save([Account(id: "a", balance: 0), Account(id: "b", balance: 0)])
            let done = try await withThrowingTaskGroup(of: Int.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        var done = 0
                        for round in 0..<10 {
                            do {
                                try await store.transaction(attempts: 1_000) { transaction in
                                    let own = transaction.collection(Account.self)
                                    var (a, b) = (try await own.fetch("a")!, try await own.fetch("b")!)
                                    guard a.balance + b.balance == 0 else { throw Refusal() }
                                    a.balance += task * round + 1
                                    b.balance -= task * round + 1
                                    try await own.save([a, b])
                                }
                                done += task * round + 1
                            }
                        }
                        return done
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(try await accounts.all().map(\.balance) == [done, -done])
        }
    }
}
