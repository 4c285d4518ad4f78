import Backplane
import BackplaneRecords
import BackplaneStorage

extension RecordStoreConformance {
    static let batches = [
        Requirement("Changes are made in the order in which they are given.") { trial in
            let numbers = try await trial.write(
                trial.save("1"), .deleteAll(collection: "books"), trial.save("2"), trial.save("3"), trial.delete("3"),
                trial.delete("4"), .deleteAll(collection: "none"))
            try expect(try await trial.ids(), equals: ["2"])
            try expect(numbers.map { $0 > 0 }, equals: [true, true, true, true, true, false, false])
            try expect(numbers.prefix(5).sorted(), equals: Array(numbers.prefix(5)), "the numbers rise")
        },
        Requirement("A condition on a version holds only for that version.") { trial in
            let first = try await trial.write(
                trial.save("1", "[1]"), if: .version(collection: "books", id: "1", 0))[0]
            try await trial.requireError(.storeConflict) {
                try await trial.write(trial.save("1", "[2]"), if: .version(collection: "books", id: "1", 0))
            }
            let second = try await trial.write(
                trial.save("1", "[3]"), if: .version(collection: "books", id: "1", first))[0]
            try await trial.requireError(.storeConflict) {
                try await trial.write(trial.delete("1"), if: .version(collection: "books", id: "1", first))
            }
            try expect(try await trial.json("1"), equals: "[3]")
            try await trial.write(trial.delete("1"), if: .version(collection: "books", id: "1", second))
            try expect(try await trial.ids(), equals: [])
        },
        Requirement("A record that was deleted and saved again has a new version.") { trial in
            let first = try await trial.write(trial.save("1"))[0]
            try await trial.write(trial.delete("1"))
            let second = try await trial.write(trial.save("1"))[0]
            try expect(second > first, "\(second) is not behind \(first)")
            try await trial.requireError(.storeConflict) {
                try await trial.write(trial.save("1"), if: .version(collection: "books", id: "1", first))
            }
        },
        Requirement("A condition on a collection holds until something in it changes.") { trial in
            try await trial.write(trial.save("1"))
            let number = try await trial.page().change
            try await trial.write(trial.save("1", in: "authors"))
            try await trial.write(trial.save("1"), in: "B")
            try await trial.write(trial.delete("none"))
            try expect(try await trial.page().change, equals: number)
            try await trial.write(trial.save("2", in: "authors"), if: .unchanged(collection: "books", since: number))
            try await trial.write(trial.save("2"))
            try await trial.requireError(.storeConflict) {
                try await trial.write(
                    trial.save("3", in: "authors"), if: .unchanged(collection: "books", since: number))
            }
            try expect(try await trial.ids(of: "authors"), equals: ["1", "2"])
            let page = try await trial.page(of: "authors")
            try expect(page.namespaceChange > page.change, "the last change of the namespace was in another collection")
        },
        Requirement("Conditions are about the state before their batch.") { trial in
            try await trial.write(
                trial.save("1"), trial.save("1"), if: .version(collection: "books", id: "1", 0),
                .unchanged(collection: "books", since: 0))
            try expect(try await trial.ids(), equals: ["1"])
        },
        Requirement("A batch without changes only checks its conditions.") { trial in
            try expect(try await trial.write(if: .version(collection: "books", id: "1", 0)), equals: [])
            try await trial.write(trial.save("1"))
            try await trial.requireError(.storeConflict) {
                try await trial.write(if: .version(collection: "books", id: "1", 0))
            }
        },
        Requirement("A batch whose condition does not hold changes nothing.") { trial in
            try await trial.write(trial.save("1", "[1]"))
            let before = try await trial.page().change
            try await trial.requireError(.storeConflict) {
                try await trial.write(
                    trial.save("1", "[2]"), trial.save("2"), .deleteAll(collection: "books"),
                    if: .version(collection: "books", id: "1", before), .version(collection: "books", id: "2", 7))
            }
            try expect(try await trial.json("1"), equals: "[1]")
            try expect(try await trial.page().change, equals: before)
            try expect(try await trial.changes(since: 0).changes.count, equals: 1)
        },
        Requirement("A page is read only from a state in which its conditions hold.") { trial in
            let version = try await trial.write(trial.save("1"))[0]
            _ = try await trial.page(
                if: .version(collection: "books", id: "1", version), .unchanged(collection: "books", since: version))
            try await trial.requireError(.storeConflict) {
                _ = try await trial.page(if: .version(collection: "books", id: "1", 0))
            }
            try await trial.requireError(.storeConflict) {
                _ = try await trial.page(if: .unchanged(collection: "books", since: 0))
            }
        },
        Requirement("Writers with conditions lose no update of each other.") { trial in
            try await trial.write(trial.save("1", "0"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var left = 25
                        while left > 0 {
                            guard let record = try await trial.record("1"),
                                let count = Int(String(decoding: record.value, as: UTF8.self))
                            else { throw ConformanceFailure("the counter is gone", #fileID, #line) }
                            do {
                                try await trial.write(
                                    trial.save("1", "\(count + 1)"),
                                    if: .version(collection: "books", id: "1", record.version))
                                left -= 1
                            } catch let error as BackplaneError where error.code == .storeConflict {}
                        }
                    }
                }
                try await group.waitForAll()
            }
            try expect(try await trial.json("1"), equals: "200")
        },
    ]
}
