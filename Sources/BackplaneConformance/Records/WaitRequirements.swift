import Backplane
import BackplaneRecords
import BackplaneStorage

extension RecordStoreConformance {
    static let waits = [
        Requirement("A wait for a change returns at once if there is one already.") { trial in
            let number = try await trial.write(trial.save("1"))[0]
            try await trial.store.waitForChange(of: "books", since: number - 1, in: "A")
            try await trial.store.waitForChange(of: "books", since: number + 1_000, in: "A")
        },
        Requirement("A wait for a change returns when that change is made, and for no other.") { trial in
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
        Requirement("One change ends all waits for it, also one that is made before they begin.") { trial in
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
        Requirement("A wait for a change is cancelled with its task, before and after it begins, and no other is.") {
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
        Requirement("A reader that follows a collection while many write misses nothing.") { trial in
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
