import Backplane
import BackplaneRecords
import BackplaneStorage

extension RecordStoreConformance {
    static let changes = [
        Requirement("The log has every change, in order, with the records that have not changed since.") {
            trial in
            let numbers = try await trial.write(
                trial.save("1", "[1]"), trial.save("2", "[2]"), trial.save("1", "[3]"), trial.delete("2"),
                trial.save("9", in: "authors"), .deleteAll(collection: "books"), trial.save("1", "[4]"))
            let page = try await trial.changes(since: 0)
            try expect(page.changes.map(\.kind), equals: [.insert, .insert, .update, .delete, .deleteAll, .insert])
            try expect(page.changes.map(\.id), equals: ["1", "2", "1", "2", "", "1"])
            try expect(page.changes.map(\.number), equals: Array(numbers[..<4] + numbers[5...]))
            try expect(
                page.changes.map { $0.record.map { String(decoding: $0.value, as: UTF8.self) } },
                equals: [nil, nil, nil, nil, nil, "[4]"])
            try expect(page.last, equals: numbers[6])
            try expect(!page.hasMore && !page.hasMissed, "the page is whole")
        },
        Requirement("The log is read page by page, and from any number on.") { trial in
            _ = try await trial.store.write((0..<10).map { trial.save("\($0)") }, in: "A")
            var last: Int64 = 0, ids: [String] = [], pages = 0
            var page = try await trial.changes(since: last, limit: 3)
            while !page.changes.isEmpty && pages < 10 {
                ids += page.changes.map(\.id)
                (last, pages) = (page.last, pages + 1)
                try expect(page.hasMore, equals: ids.count < 10)
                page = try await trial.changes(since: last, limit: 3)
            }
            try expect(ids, equals: (0..<10).map { "\($0)" })
            try expect(page.last, equals: last, "an empty page ends where it began")
            try expect(!page.hasMissed, "nothing was missed")
        },
        Requirement("A number that the store did not assign is reported as missed changes.") { trial in
            try await trial.write(trial.save("1"))
            let page = try await trial.changes(since: 1_000_000)
            try expect(page.hasMissed, "the number is of another store")
            try expect(page.changes.map(\.id), equals: ["1"])
            try expect(try await trial.changes(since: 7, of: "none").hasMissed, "the collection is of another store")
        },
        Requirement("The log has at least the last 100,000 changes, and a slower reader is notified.") { trial in
            var numbers: [Int64] = []
            for round in 0..<21 {
                numbers += try await trial.store.write(
                    (0..<5_000).map { trial.save("\($0 % 10)", "[\(round)]") }, in: "A")
            }
            let slow = try await trial.changes(since: numbers[0], limit: 1)
            try expect(slow.hasMissed, "\(numbers.count) changes were made, and the second one is still there")
            let quick = try await trial.changes(since: numbers[numbers.count - 100_001], limit: 1)
            try expect(!quick.hasMissed, "one of the last 100,000 changes is missing")
            try expect(quick.changes.first?.number, equals: numbers[numbers.count - 100_000])
            let latest = try await trial.changes(since: numbers[numbers.count - 11])
            try expect(latest.changes.compactMap(\.record).count, equals: 10)
        },
    ]
}

extension RecordStoreConformance {
    static let waits = [
        Requirement("A wait for a change returns immediately if a change already exists.") { trial in
            let number = try await trial.write(trial.save("1"))[0]
            try await trial.store.waitForChange(of: "books", since: number - 1, in: "A")
            try await trial.store.waitForChange(of: "books", since: number + 1_000, in: "A")
        },
        Requirement("A wait returns after a change of its own collection, and of no other one.") { trial in
            let number = try await trial.write(trial.save("1"))[0]
            let waiting = Task { try await trial.store.waitForChange(of: "books", since: number, in: "A") }
            try await trial.untilWaiting(1)
            try await trial.write(trial.save("1", in: "authors"))
            try await trial.write(trial.save("1"), in: "B")
            try await trial.store.waitForChange(of: "authors", since: 0, in: "A")
            try await trial.untilWaiting(1)
            let change = try await trial.write(trial.delete("1"))[0]
            try await waiting.value
            try await trial.untilWaiting(0)
            let page = try await trial.changes(since: number)
            try expect(page.changes.map(\.number), equals: [change])
        },
        Requirement("One change ends all waits for it, even if the waits begin later.") { trial in
            for isWaiting in [true, false] {
                let number = try await trial.write(trial.save("1"))[0]
                let waits = (0..<8).map { _ in
                    Task { try await trial.store.waitForChange(of: "books", since: number, in: "A") }
                }
                if isWaiting { try await trial.untilWaiting(8) }
                try await trial.write(trial.save("2"))
                for wait in waits { try await wait.value }
            }
        },
        Requirement("Cancelling a task ends only its own wait, whether the wait has begun or not.") {
            trial in
            func wait() -> Task<Void, any Error> {
                Task { try await trial.store.waitForChange(of: "books", since: 0, in: "A") }
            }
            let early = wait()
            early.cancel()
            try await trial.requireError(.callCancelled) { try await early.value }
            let late = wait(), other = wait()
            try await trial.untilWaiting(2)
            late.cancel()
            try await trial.requireError(.callCancelled) { try await late.value }
            try await trial.untilWaiting(1)
            try await trial.write(trial.save("1"))
            try await other.value
        },
        Requirement("A reader that follows a collection during many writes misses nothing.") { trial in
            let writing = Task {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for writer in 0..<8 {
                        group.addTask {
                            for number in 0..<25 { try await trial.write(trial.save("\(writer)-\(number)")) }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            var ids: [String] = [], last: Int64 = 0
            while ids.count < 200 {
                try await trial.store.waitForChange(of: "books", since: last, in: "A")
                let page = try await trial.changes(since: last)
                try expect(!page.hasMissed, "nothing was missed")
                (ids, last) = (ids + page.changes.map(\.id), page.last)
            }
            try await writing.value
            try expect(Set(ids).count, equals: 200)
        },
    ]
}
