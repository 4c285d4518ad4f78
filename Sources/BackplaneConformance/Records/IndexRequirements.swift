import Backplane
import BackplaneRecords
import BackplaneStorage

extension RecordStoreConformance {
    static let indexes = [
        Requirement("An index that is not declared is an error that names those that are.") { trial in
            try await trial.requireError(.storeUnindexed) { _ = try await trial.page(RecordRange(of: "p")) }
            try await trial.define(IndexDefinition("year", name: "years"))
            do {
                _ = try await trial.page(RecordRange(of: "p"))
                throw ConformanceFailure("nothing was thrown", #fileID, #line)
            } catch let error as BackplaneError {
                try expect(error.message.contains("`years`"), "\(error)")
            }
        },
        Requirement("An index follows every change of its records.") { trial in
            try await trial.define(IndexDefinition("p"))
            try await trial.write(
                trial.save("1", #"{"p":1}"#), trial.save("2", #"{"p":2}"#), trial.save("3", #"{"p":3}"#))
            try await trial.write(trial.save("1", #"{"p":9}"#), trial.delete("2"), trial.save("4", #"{"p":4}"#))
            try await trial.write(trial.save("3", #"{"p":3,"q":1}"#))
            try expect(try await trial.ids(RecordRange(of: "p")), equals: ["3", "4", "1"])
            try expect(
                try await trial.page(RecordRange(of: "p")).records[0].value, equals: Array(#"{"p":3,"q":1}"#.utf8))
            try await trial.write(.deleteAll(collection: "books"), trial.save("5", #"{"p":5}"#))
            try expect(try await trial.ids(RecordRange(of: "p")), equals: ["5"])
        },
        Requirement("An index that is added later has the records that were there before.") { trial in
            _ = try await trial.store.write((0..<5_000).map { trial.save("\($0)", #"{"p":\#(9_999 - $0)}"#) }, in: "A")
            try await trial.define(IndexDefinition("p"))
            try expect(
                try await trial.page(RecordRange(of: "p"), limit: 3).records.map(\.id),
                equals: ["4999", "4998", "4997"])
            try expect(
                try await trial.store.count(RecordQuery(collection: "books", .range(RecordRange(of: "p"))), in: "A"),
                equals: 5_000)
        },
        Requirement("An index that is no longer declared is removed, and a changed one is replaced.") {
            trial in
            try await trial.write(trial.save("1", #"{"p":1,"q":2}"#), trial.save("2", #"{"p":2,"q":1}"#))
            try await trial.define(IndexDefinition("p"), IndexDefinition("q", name: "x"))
            try expect(try await trial.ids(RecordRange(of: "x")), equals: ["2", "1"])
            try await trial.define(IndexDefinition("p", name: "x"))
            try await trial.requireError(.storeUnindexed) { _ = try await trial.page(RecordRange(of: "p")) }
            try expect(try await trial.ids(RecordRange(of: "x")), equals: ["1", "2"])
            let collections = try await trial.store.collections(in: "A")
            try expect(collections.map { $0.definition.indexes.map(\.paths) }, equals: [[["p"]]])
            try await trial.define(IndexDefinition("p", name: "x"))
            try expect(try await trial.ids(RecordRange(of: "x")), equals: ["1", "2"])
        },
        Requirement("Definitions that are none are refused.") { trial in
            for index in [
                IndexDefinition(""), IndexDefinition("a..b"), IndexDefinition(), IndexDefinition("a", name: "\u{0}"),
            ] {
                try await trial.requireError(.callInvalidInput) { try await trial.define(index) }
            }
            try await trial.requireError(.callInvalidInput) {
                try await trial.define(IndexDefinition("a", name: "x"), IndexDefinition("b", name: "x"))
            }
            try await trial.requireError(.callInvalidInput) {
                try await trial.define(IndexDefinition("a"), collection: "")
            }
        },
        Requirement("A unique index refuses a second record with its values, but for null.") { trial in
            try await trial.define(IndexDefinition("isbn", isUnique: true), IndexDefinition("a", "b", isUnique: true))
            try await trial.write(trial.save("1", #"{"isbn":"x","a":1,"b":1}"#))
            try await trial.requireError(.storeDuplicate) {
                try await trial.write(trial.save("2"), trial.save("3", #"{"isbn":"x"}"#))
            }
            try await trial.requireError(.storeDuplicate) {
                try await trial.write(trial.save("2", #"{"a":1.0,"b":1}"#))
            }
            try expect(try await trial.ids(), equals: ["1"], "all of the batch is taken back")
            try await trial.write(
                trial.save("2", #"{"a":1}"#), trial.save("3", #"{"a":1}"#), trial.save("4", #"{"isbn":"y"}"#))
            try await trial.write(trial.save("1", #"{"isbn":"x","a":1,"b":2}"#))
            try expect(try await trial.ids(RecordRange(of: "isbn", equal: ["x"])), equals: ["1"])
        },
        Requirement("Uniqueness is asked of the result of a batch, not of each step.") { trial in
            try await trial.define(IndexDefinition("p", isUnique: true))
            try await trial.write(trial.save("1", #"{"p":1}"#), trial.save("2", #"{"p":2}"#))
            try await trial.write(trial.save("1", #"{"p":2}"#), trial.save("2", #"{"p":1}"#))
            try expect(try await trial.ids(RecordRange(of: "p")), equals: ["2", "1"])
            try await trial.write(trial.save("3", #"{"p":1}"#), trial.delete("2"))
            try await trial.write(trial.save("4", #"{"p":2}"#), trial.save("4", #"{"p":4}"#))
            try await trial.write(.deleteAll(collection: "books"), trial.save("5", #"{"p":1}"#))
            try await trial.requireError(.storeDuplicate) {
                try await trial.write(trial.save("6", #"{"p":6}"#), trial.save("7", #"{"p":6}"#))
            }
            try expect(try await trial.ids(), equals: ["5"])
        },
        Requirement("An index that records contradict is not added, and the others are.") { trial in
            try await trial.write(
                trial.save("1", #"{"p":1,"q":2}"#), trial.save("2", #"{"p":1,"q":1}"#), trial.save("3"), trial.save("4")
            )
            try await trial.requireError(.storeDuplicate) {
                try await trial.define(IndexDefinition("p", isUnique: true), IndexDefinition("q", isUnique: true))
            }
            try await trial.requireError(.storeUnindexed) { _ = try await trial.page(RecordRange(of: "p")) }
            try expect(try await trial.ids(RecordRange(of: "q")), equals: ["3", "4", "2", "1"])
            try await trial.write(trial.save("2", #"{"p":2}"#))
            try await trial.define(IndexDefinition("p", isUnique: true), IndexDefinition("q", isUnique: true))
            try await trial.requireError(.storeDuplicate) { try await trial.write(trial.save("5", #"{"p":2}"#)) }
        },
        Requirement("An index is right after it was built while others wrote.") { trial in
            _ = try await trial.store.write((0..<4_000).map { trial.save("\(10_000 + $0)", #"{"p":\#($0)}"#) }, in: "A")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await trial.define(IndexDefinition("p")) }
                group.addTask {
                    for number in 0..<200 {
                        try await trial.write(
                            trial.save("\(10_000 + number * 17)", #"{"p":-1}"#),
                            trial.delete("\(10_001 + number * 17)"),
                            trial.save("\(20_000 + number)", #"{"p":-2}"#))
                    }
                }
                try await group.waitForAll()
            }
            func count(_ range: RecordRange) async throws -> Int {
                try await trial.store.count(RecordQuery(collection: "books", .range(range)), in: "A")
            }
            try expect(try await count(RecordRange(of: "p", equal: [-1])), equals: 200)
            try expect(try await count(RecordRange(of: "p", equal: [-2])), equals: 200)
            try expect(try await count(RecordRange(of: "p")), equals: 4_000)
            try expect(try await count(RecordRange()), equals: 4_000)
        },
    ]
}
