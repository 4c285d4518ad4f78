import Backplane
import BackplaneRecords
import BackplaneStorage

extension RecordStoreConformance {
    static let indexes = [
        Requirement("The use of an undeclared index is an error that names the declared ones.") { trial in
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
        Requirement("An index that is added later contains the existing records.") { trial in
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
        Requirement("Invalid definitions are refused.") { trial in
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
        Requirement("A unique index refuses a second record with the same values, except for null.") { trial in
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
        Requirement("A unique index distinguishes numbers that are equal as Double.") { trial in
            try await trial.define(IndexDefinition("p", isUnique: true))
            let numbers = [
                "18446744073709551614", "18446744073709551615", "79228162514264337593543950334",
                "79228162514264337593543950335", "0.1", "0.1000000000000000000000000001", "-18446744073709551615",
            ]
            for (id, number) in numbers.enumerated() {
                try await trial.write(trial.save("\(id)", #"{"p":\#(number)}"#))
                try expect(
                    try await trial.page(RecordRange(of: "p", equal: [.decimal(number)])).records.map(\.id),
                    equals: ["\(id)"])
            }
            for same in ["18446744073709551615.0", "0.10", "1e-1", "-1.8446744073709551615E19"] {
                try await trial.requireError(.storeDuplicate) {
                    try await trial.write(trial.save("other", #"{"p":\#(same)}"#))
                }
            }
        },
        Requirement("Uniqueness is checked for the result of a batch, not for each step.") { trial in
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
        Requirement("A unique index is not added if records have equal values, but other indexes are.") { trial in
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
        Requirement("An index that is built during writes is correct.") { trial in
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

extension RecordStoreConformance {
    /// Values of an indexed property in JSON, in the order in which stores sort them.
    static let orderedValues = [
        "null", "false", "true", "-1e300", "-18446744073709551615", "-9223372036854775808", "-9007199254740993",
        "-9007199254740992", "-1.5",
        "-1", "0", "1e-300", "0.12345678901234567890123456789012345677",
        "0.12345678901234567890123456789012345678", "0.5", "1", "2", "10", "9007199254740992", "9007199254740993",
        "9007199254740995",
        "9223372036854775806", "9223372036854775807", "18446744073709551614", "18446744073709551615",
        "1e300", #""""#, #""\u0000""#, #""A""#, #""a""#, #""a\u0000""#,
        #""a\u0000b""#, #""a\u0001""#, #""aa""#, #""ab""#, #""b""#, #""\u00e9""#, #""\uFFFD""#, #""\ud83d\udc0b""#,
    ]

    static let ranges = [
        Requirement("Every kind of value has its place in an index, forwards and backwards.") { trial in
            try await trial.define(IndexDefinition("p"))
            let changes = orderedValues.enumerated().map { trial.save("r\(100 + $0.offset)", #"{"p":\#($0.element)}"#) }
            _ = try await trial.store.write(changes.reversed(), in: "A")
            let expected = orderedValues.indices.map { "r\(100 + $0)" }
            try expect(try await trial.ids(RecordRange(of: "p")), equals: expected)
            try expect(try await trial.ids(RecordRange(of: "p"), isDescending: true), equals: expected.reversed())
        },
        Requirement("Equal values are sorted by id, and numbers are equal however they are written.") { trial in
            try await trial.define(IndexDefinition("p"))
            try await trial.write(
                trial.save("d", #"{"p":1.0}"#), trial.save("b", #"{"p":1}"#), trial.save("a", #"{"p":1e0}"#),
                trial.save("c", #"{"p":2}"#), trial.save("e", #"{"p":-0.0}"#), trial.save("f", #"{"p":0}"#))
            try expect(try await trial.ids(RecordRange(of: "p")), equals: ["e", "f", "a", "b", "d", "c"])
            try expect(try await trial.ids(RecordRange(of: "p", equal: [1.0])), equals: ["a", "b", "d"])
            try expect(
                try await trial.ids(RecordRange(of: "p", equal: [1]), isDescending: true), equals: ["d", "b", "a"])
        },
        Requirement("A property is found by its path, and a list or an object counts as null.") { trial in
            try await trial.define(IndexDefinition("a.b"))
            let values = [
                "1": #"{"x":{"b":9},"a":{"c":[1,{"b":8}],"b":"found"},"b":7}"#, "2": #"{"a":{}}"#, "3": #"{"a":5}"#,
                "4": #"{"a":{"b":[1]}}"#, "5": #"{"a":{"b":{}}}"#, "6": "[]", "7": "no JSON at all",
                "8": #" { "a" : { "\u0062" : "fo\u0075nd" } } "#, "9": #"{"s":"}\"{","a":{"b":"found"}}"#,
            ]
            for (id, json) in values { try await trial.write(trial.save(id, json)) }
            try expect(try await trial.ids(RecordRange(of: "a.b", equal: ["found"])), equals: ["1", "8", "9"])
            try expect(
                try await trial.ids(RecordRange(of: "a.b", equal: [.null])), equals: ["2", "3", "4", "5", "6", "7"])
        },
        Requirement("Ranges contain the limits that they include, and only values of one kind.") { trial in
            try await trial.define(IndexDefinition("p"))
            let values = ["null", "true", "1", "2", "2.5", "3", #""1""#, #""2""#, #""20""#, #""3""#]
            _ = try await trial.store.write(values.map { trial.save($0, #"{"p":\#($0)}"#) }, in: "A")
            func ids(_ bounds: RecordRange.Bounds) async throws -> [String] {
                try await trial.ids(RecordRange(of: "p", bounds))
            }
            try expect(try await ids(.between(1, and: 3)), equals: ["1", "2", "2.5"])
            try expect(
                try await ids(.between(1, and: 3, includingFirst: false, includingLast: true)),
                equals: ["2", "2.5", "3"])
            try expect(try await ids(.between(2.5, and: nil)), equals: ["2.5", "3"])
            try expect(try await ids(.between(nil, and: 2)), equals: ["1"])
            try expect(try await ids(.between(nil, and: "3")), equals: [#""1""#, #""2""#, #""20""#])
            try expect(try await ids(.between("2", and: nil, includingFirst: false)), equals: [#""20""#, #""3""#])
            try expect(try await ids(.prefix("2")), equals: [#""2""#, #""20""#])
            try expect(try await ids(.prefix("")), equals: [#""1""#, #""2""#, #""20""#, #""3""#])
            try expect(try await ids(.between(3, and: 1)), equals: [])
            try expect(try await ids(.between(false, and: true, includingLast: true)), equals: ["true"])
        },
        Requirement("An index of several properties is sorted by each, and ranges begin with the first ones.") {
            trial in
            try await trial.define(IndexDefinition("author", "year", "title", name: "catalogue"))
            let books = [
                ("c", "Woolf", 1925, "M"), ("b", "Woolf", 1927, "T"), ("a", "Woolf", 1927, "A"), ("d", "W", 1900, "Z"),
            ]
            for (id, author, year, title) in books {
                try await trial.write(trial.save(id, #"{"author":"\#(author)","year":\#(year),"title":"\#(title)"}"#))
            }
            func ids(_ equal: [IndexedValue], _ bounds: RecordRange.Bounds? = nil) async throws -> [String] {
                try await trial.ids(RecordRange(of: "catalogue", equal: equal, bounds))
            }
            try expect(try await ids([]), equals: ["d", "c", "a", "b"])
            try expect(try await ids(["Woolf"]), equals: ["c", "a", "b"])
            try expect(try await ids(["W"]), equals: ["d"], "a text is not the beginning of another")
            try expect(try await ids(["Woolf", 1927]), equals: ["a", "b"])
            try expect(try await ids(["Woolf"], .between(1926, and: nil)), equals: ["a", "b"])
            try expect(try await ids(["Woolf", 1927], .prefix("T")), equals: ["b"])
            try expect(try await ids([], .prefix("W")), equals: ["d", "c", "a", "b"])
        },
        Requirement("Ids have ranges and prefixes.") { trial in
            _ = try await trial.store.write(["a", "a\u{0}", "ab", "b", "c"].map { trial.save($0) }, in: "A")
            try expect(try await trial.ids(RecordRange(.prefix("a"))), equals: ["a", "a\u{0}", "ab"])
            try expect(
                try await trial.ids(RecordRange(.prefix("a")), isDescending: true), equals: ["ab", "a\u{0}", "a"])
            try expect(
                try await trial.ids(RecordRange(.between("a", and: "b", includingFirst: false))),
                equals: ["a\u{0}", "ab"])
            try expect(
                try await trial.ids(RecordRange(.between("ab", and: "b", includingLast: true))), equals: ["ab", "b"])
            try expect(try await trial.ids(RecordRange(equal: ["a"])), equals: ["a"])
        },
        Requirement("A cursor keeps its position while records are added and deleted around it.") { trial in
            try await trial.define(IndexDefinition("p"))
            for id in ["a", "b", "c", "d"] { try await trial.write(trial.save(id, #"{"p":"\#(id)"}"#)) }
            for range in [RecordRange(), RecordRange(of: "p")] {
                let cursor = try await trial.page(range, limit: 2).next
                try await trial.write(
                    trial.delete("b"), trial.save("aa", #"{"p":"aa"}"#), trial.save("bb", #"{"p":"bb"}"#))
                try expect(try await trial.page(range, after: cursor).records.map(\.id), equals: ["bb", "c", "d"])
                try expect(
                    try await trial.page(range, isDescending: true, after: cursor).records.map(\.id),
                    equals: ["aa", "a"])
                try await trial.write(trial.delete("aa"), trial.delete("bb"), trial.save("b", #"{"p":"b"}"#))
            }
        },
        Requirement("Ranges and cursors that do not fit are refused.") { trial in
            try await trial.define(IndexDefinition("p"), IndexDefinition("q"))
            try await trial.write(trial.save("1", #"{"p":1,"q":"x"}"#), trial.save("2", #"{"p":2,"q":"y"}"#))
            for range in [
                RecordRange(of: "p", equal: [1, 2]), RecordRange(of: "p", equal: [1], .prefix("a")),
                RecordRange(of: "p", .between(1, and: "a")), RecordRange(of: "p", .between(nil, and: nil)),
                RecordRange(equal: [1]), RecordRange(.between(1, and: nil)), RecordRange(equal: ["1"], .prefix("1")),
            ] {
                try await trial.requireError(.callInvalidInput) { _ = try await trial.page(range) }
            }
            let cursor = try await trial.page(RecordRange(of: "p"), limit: 1).next
            let cursors: [PageCursor?] = [
                cursor, PageCursor(bytes: []), PageCursor(bytes: [1, 255, 255, 255, 255, 0]),
            ]
            for cursor in cursors {
                try await trial.requireError(.callInvalidInput) { _ = try await trial.page(after: cursor) }
            }
            try await trial.requireError(.callInvalidInput) {
                _ = try await trial.page(RecordRange(of: "p", equal: [2]), after: cursor)
            }
        },
    ]
}
