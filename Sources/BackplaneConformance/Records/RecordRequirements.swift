import Backplane
import BackplaneRecords
import BackplaneStorage

extension RecordStoreConformance {
    static let records = [
        Requirement("A saved record is found by its id, and a second save replaces it.") { trial in
            let first = try await trial.write(trial.save("1", "[1]"))
            let second = try await trial.write(trial.save("1", "[2]"), trial.save("2", "[3]"))
            let record = try await trial.record("1")
            try expect(record.map { String(decoding: $0.value, as: UTF8.self) }, equals: "[2]")
            try expect(record?.version, equals: second[0], "a record's version is the number of its change")
            try expect(first[0] > 0 && first[0] < second[0] && second[0] < second[1], "\(first), \(second) do not rise")
        },
        Requirement("Namespaces and collections do not see each other.") { trial in
            try await trial.write(trial.save("1"), trial.save("2", in: "authors"))
            try await trial.write(trial.save("3"), in: "B")
            try expect(try await trial.ids(), equals: ["1"])
            try expect(try await trial.ids(in: "B"), equals: ["3"])
            try await trial.write(.deleteAll(collection: "books"))
            try expect(try await trial.ids(), equals: [])
            try expect(try await trial.ids(of: "authors"), equals: ["2"])
            try expect(try await trial.ids(in: "B"), equals: ["3"])
        },
        Requirement("Records are returned in the order of their ids' bytes, or in reverse.") { trial in
            let ids = ["\u{0}", "10", "9", "Z", "a", "a\u{0}", "a\u{0}b", "aa", "b", "e\u{301}", "é", "\u{1F40B}"]
            _ = try await trial.store.write(ids.reversed().map { trial.save($0) }, in: "A")
            try expect(try await trial.ids().map { Array($0.utf8) }, equals: ids.map { Array($0.utf8) })
            try expect(
                try await trial.ids(isDescending: true).map { Array($0.utf8) },
                equals: ids.reversed().map { Array($0.utf8) })
        },
        Requirement("Any text is an id, and any bytes are a value.") { trial in
            let value = Array(UInt8.min...UInt8.max), large = String(repeating: "\u{1F40B}", count: 1 << 18)
            for id in ["'; DROP TABLE records; --", "a\u{0}b", "a\u{0}c", large] {
                try await trial.write(
                    .save(collection: "bo'oks", StoredRecord(id: id, value: value + Array(id.utf8))), in: "A'")
            }
            for id in ["'; DROP TABLE records; --", "a\u{0}b", "a\u{0}c", large] {
                let record = try await trial.record(id, of: "bo'oks", in: "A'")
                try expect(record?.value, equals: value + Array(id.utf8))
            }
            try expect(try await trial.store.collections(in: "A'").map(\.count), equals: [4])
        },
        Requirement("A record of 50 MB is stored and found.") { trial in
            let value = [UInt8](repeating: 0x20, count: 50 << 20)
            try await trial.write(.save(collection: "books", StoredRecord(id: "1", value: value)))
            let record = try await trial.record("1")
            try expect(record?.value == value, "every byte is there")
        },
        Requirement("Invalid names, ids and values are refused, and nothing is written.") { trial in
            for change in [
                trial.save(""), trial.save(String(repeating: "x", count: 1 << 20 + 1)), trial.save("1", in: ""),
                trial.save("1", in: "a\u{0}"),
                .save(collection: "books", StoredRecord(id: "1", value: Array(repeating: 32, count: 64 << 20 + 1))),
            ] {
                try await trial.requireError(.callInvalidInput) { try await trial.write(trial.save("0"), change) }
            }
            try await trial.requireError(.callInvalidInput) { try await trial.write(trial.save("1"), in: "") }
            try expect(try await trial.ids(), equals: [])
        },
        Requirement("Unknown ids are left out, and an empty list of ids finds no records.") { trial in
            try await trial.write(trial.save("1"), trial.save("2"), trial.save("3"))
            for (wanted, expected) in [(["3", "7", "1", "1"], ["1", "3"]), ([], [])] as [([String], [String])] {
                let query = RecordQuery(collection: "books", ids: wanted)
                let page = try await trial.store.read(query, in: "A")
                try expect(page.records.map(\.id), equals: expected)
                try expect(page.next == nil, "there is no further page")
                try expect(try await trial.store.count(query, in: "A"), equals: expected.count)
            }
        },
        Requirement("Many thousand ids can be requested, page by page.") { trial in
            let wanted = (0..<12_000).map { "id-\($0)" }
            _ = try await trial.store.write(wanted.map { trial.save($0) }, in: "A")
            var query = RecordQuery(collection: "books", .ids(wanted)), found: [String] = []
            repeat {
                let page = try await trial.store.read(query, in: "A")
                found += page.records.map(\.id)
                query.after = page.next
            } while query.after != nil && found.count <= wanted.count
            try expect(found, equals: wanted.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
        },
        Requirement("A page ends once its values have 16 MB, and the next page continues there.") { trial in
            for id in ["1", "2", "3", "4"] {
                try await trial.write(
                    .save(collection: "books", StoredRecord(id: id, value: Array(repeating: 32, count: 9 << 20))))
            }
            let first = try await trial.page(), second = try await trial.page(after: first.next)
            try expect(first.records.map(\.id), equals: ["1", "2"])
            try expect(second.records.map(\.id), equals: ["3", "4"])
            try expect(second.next == nil, "there is no further page")
            let query = RecordQuery(collection: "books", isWithoutValues: true)
            try expect(try await trial.store.read(query, in: "A").records.map(\.value.count), equals: [0, 0, 0, 0])
        },
        Requirement("Namespaces and collections are listed in the order of their names' bytes.") { trial in
            try await trial.write(trial.save("1", in: "b"), trial.save("1", in: "a"), trial.save("2", in: "a"), in: "Z")
            try await trial.write(trial.save("1"), in: "é")
            try expect(try await trial.store.namespaces(), equals: ["Z", "é"])
            let collections = try await trial.store.collections(in: "Z")
            try expect(collections.map(\.definition.name), equals: ["a", "b"])
            try expect(collections.map(\.count), equals: [2, 1])
            try expect(try await trial.store.collections(in: "none").count, equals: 0)
        },
        Requirement("The size of a collection is the size of its records' values.") { trial in
            let store = trial.store
            try expect(try await store.size(of: "books", in: "A"), equals: 0)
            for count in [0, 1, 5_000, 100_000] {
                let record = StoredRecord(id: "\(count)", value: [UInt8](repeating: 0x30, count: max(1, count)))
                _ = try await store.write([.save(collection: "books", record)], in: "A")
            }
            try expect(try await store.size(of: "books", in: "A"), equals: 105_002)
            _ = try await store.write([.delete(collection: "books", id: "5000")], in: "A")
            try expect(try await store.size(of: "books", in: "A"), equals: 100_002)
            try expect(try await store.size(of: "books", in: "B"), equals: 0)
        },
        Requirement("A hundred concurrent writers lose nothing.") { trial in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<100 {
                    group.addTask {
                        _ = try await trial.store.write((0..<10).map { trial.save("\(writer)-\($0)") }, in: "A")
                    }
                }
                try await group.waitForAll()
            }
            try expect(try await trial.store.count(RecordQuery(collection: "books"), in: "A"), equals: 1_000)
        },
    ]
}

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
        Requirement("Conditions apply to the state before their batch.") { trial in
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
