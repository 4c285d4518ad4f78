import Backplane
import BackplaneRecords
import BackplaneStorage

extension RecordStoreConformance {
    static let texts = [
        Requirement("An engine without full text accepts indexes of texts, and refuses searches.") { trial in
            guard !trial.store.capabilities.contains(.fullText) else { return }
            try await trial.defineWords()
            try await trial.write(trial.save("1", #"{"title":"Emma"}"#))
            try expect(try await trial.ids(), equals: ["1"])
            try await trial.requireError(.storeUnsupported) { _ = try await trial.search("emma") }
            try await trial.requireError(.storeUnindexed) { _ = try await trial.search("emma", in: "none") }
        },
        Requirement("Records are found by all words of a text, in any of the properties and in lists.") { trial in
            try await trial.withWords { trial in
                for (text, ids) in [
                    ("moon", ["moon"]), ("EARTH verne", ["moon"]), ("verne", ["moon", "sea"]),
                    ("whales sea", ["moby"]), ("dumas", ["three"]), ("maquet", ["three"]), ("none", []),
                    ("moon none", []), ("ecume", ["foam"]), ("Écume", ["foam"]), ("titles", []), ("1865", []),
                ] {
                    try expect(try await trial.search(text).sorted(), equals: ids, text)
                }
            }
        },
        Requirement("A star marks the beginning of a word, quotation marks a phrase; other signs mean nothing.") {
            trial in
            try await trial.withWords { trial in
                for (text, ids) in [
                    ("mus*", ["three"]), ("m*", ["moby", "moon", "three"]), ("earth m*", ["moon"]),
                    (#""earth to the moon""#, ["moon"]), (#""moon to the earth""#, []), (#""to the mo"*"#, ["moon"]),
                    ("moon OR sea", []), ("NOT moon", []), ("moon -", ["moon"]), ("title:moon", []),
                    ("(moon)", ["moon"]), ("moon'", ["moon"]), (#"moon ""#, ["moon"]), (#""moon"#, ["moon"]),
                    ("NEAR(earth moon)", []), ("moon\u{0}", ["moon"]), ("^moon", ["moon"]), ("{moon}", ["moon"]),
                    (#""earth to"moon"#, ["moon"]), ("zzz\"\u{301} OR c0:moon OR \"\u{301}\"", []),
                    ("zzz\"\u{FE0F} OR moon", []),
                ] {
                    try expect(try await trial.search(text).sorted(), equals: ids, text)
                }
                for text in ["", " ", "*", "- + ()", "\"\"", String(repeating: "moon ", count: 1_000)] {
                    try await trial.requireError(.callInvalidInput) { _ = try await trial.search(text) }
                }
            }
        },
        Requirement("A search returns the requested number of records, the most relevant first.") { trial in
            try await trial.withWords { trial in
                let padding = String(repeating: "and so on ", count: 50)
                try await trial.write(
                    trial.save("much", #"{"title":"comet comet comet"}"#),
                    trial.save("less", #"{"title":"\#(padding) comet"}"#),
                    trial.save("some", #"{"title":"a comet here"}"#))
                try expect(try await trial.search("comet"), equals: ["much", "some", "less"])
                try expect(try await trial.search("comet", limit: 1), equals: ["much"])
                let query = RecordQuery(collection: "books", .search(index: "words", text: "comet"), limit: 1)
                try expect(try await trial.store.count(query, in: "A"), equals: 3)
            }
        },
        Requirement("A search continues after its last page, even among equally relevant records.") { trial in
            try await trial.withWords { trial in
                _ = try await trial.store.write(
                    (100..<350).map {
                        trial.save("\($0)", #"{"title":"\#(String(repeating: "comet ", count: $0 % 3 + 1))"}"#)
                    }, in: "A")
                for isDescending in [false, true] {
                    var query = RecordQuery(
                        collection: "books", .search(index: "words", text: "comet"), isDescending: isDescending)
                    query.limit = 10_000
                    let all = try await trial.store.read(query, in: "A")
                    try expect(all.records.count, equals: 250)
                    try expect(all.next == nil, "there is no further page")
                    var ids: [String] = [], sizes: [Int] = []
                    query.limit = 99
                    repeat {
                        let page = try await trial.store.read(query, in: "A")
                        ids += page.records.map(\.id)
                        sizes.append(page.records.count)
                        query.after = page.next
                    } while query.after != nil
                    try expect(ids, equals: all.records.map(\.id))
                    try expect(sizes, equals: [99, 99, 52])
                }
                for cursor in [PageCursor(id: [49]), PageCursor(key: [1], id: [49]), PageCursor(bytes: [2, 0])] {
                    try await trial.requireError(.callInvalidInput) {
                        let query = RecordQuery(
                            collection: "books", .search(index: "words", text: "comet"), after: cursor)
                        _ = try await trial.store.read(query, in: "A")
                    }
                }
            }
        },
        Requirement("Searches find changed records by their new text, and no deleted ones.") { trial in
            try await trial.withWords { trial in
                try await trial.write(trial.save("moon", #"{"title":"The comet"}"#), trial.delete("sea"))
                try expect(try await trial.search("verne"), equals: [])
                try expect(try await trial.search("comet"), equals: ["moon"])
                try await trial.write(trial.save("moon", #"{"title":"The comet","year":1}"#))
                try expect(try await trial.search("comet"), equals: ["moon"])
                try await trial.write(
                    .deleteAll(collection: "books"), trial.save("new", #"{"title":"A comet"}"#), trial.delete("moon"))
                try expect(try await trial.search("comet"), equals: ["new"])
                try expect(try await trial.search("dumas"), equals: [])
                try await trial.write(.deleteAll(collection: "books"))
                try expect(try await trial.search("comet"), equals: [])
            }
        },
        Requirement("A refused batch does not change the results of searches.") { trial in
            try await trial.withWords { trial in
                try await trial.requireError(.storeConflict) {
                    try await trial.write(
                        .deleteAll(collection: "books"), trial.save("1", #"{"title":"comet"}"#),
                        if: .version(collection: "books", id: "moon", 1_000_000))
                }
                try await trial.define(
                    IndexDefinition("isbn", isUnique: true),
                    IndexDefinition(paths: ["title"], name: "words", text: TextIndexing()))
                try await trial.requireError(.storeDuplicate) {
                    try await trial.write(
                        .deleteAll(collection: "books"), trial.save("1", #"{"title":"comet","isbn":1}"#),
                        trial.save("2", #"{"title":"comet","isbn":1}"#))
                }
                try expect(try await trial.search("comet"), equals: [])
                try expect(try await trial.search("moon"), equals: ["moon"])
            }
        },
        Requirement("An index of texts is built from the existing records, and can be changed and removed.") { trial in
            guard trial.store.capabilities.contains(.fullText) else { return }
            _ = try await trial.store.write(
                (0..<5_000).map { trial.save("\($0)", #"{"title":"number \#($0 % 100)"}"#) }, in: "A")
            try await trial.defineWords()
            try expect(try await trial.search("number 7", limit: 10_000).count, equals: 50)
            try await trial.define(
                IndexDefinition(paths: ["title"], name: "words", text: TextIndexing(.substrings)),
                IndexDefinition("title"))
            try expect(try await trial.search("umbe", limit: 10_000).count, equals: 5_000)
            try expect(try await trial.ids(RecordRange(of: "title", equal: ["number 7"])).count, equals: 50)
            try await trial.requireError(.storeUnindexed) { _ = try await trial.search("number", in: "title") }
            try await trial.requireError(.storeUnindexed) { _ = try await trial.page(RecordRange(of: "words")) }
            try await trial.define(IndexDefinition("title"))
            try await trial.requireError(.storeUnindexed) { _ = try await trial.search("number") }
            try await trial.write(trial.save("1", #"{"title":"number 1"}"#), trial.delete("2"))
        },
        Requirement("An English index finds other forms of a word, and an index of parts finds its parts.") { trial in
            guard trial.store.capabilities.contains(.fullText) else { return }
            try await trial.define(
                IndexDefinition(paths: ["title"], name: "words", text: TextIndexing(.english)),
                IndexDefinition(paths: ["title"], name: "parts", text: TextIndexing(.substrings)))
            try await trial.write(trial.save("1", #"{"title":"Whaling voyages"}"#))
            try expect(try await trial.search("whales voyage"), equals: ["1"])
            try expect(try await trial.search("yage", in: "parts"), equals: ["1"])
            try expect(try await trial.search("yage"), equals: [])
        },
        Requirement("A search for parts of words considers every word, even with fewer than three characters.") {
            trial in
            guard trial.store.capabilities.contains(.fullText) else { return }
            try await trial.define(
                IndexDefinition(paths: ["title", "by"], name: "words", text: TextIndexing(.substrings)))
            try await trial.write(
                trial.save("1", #"{"title":"Whaling voyages"}"#),
                trial.save("2", #"{"title":"The WHALE","by":"ZZ Top"}"#),
                trial.save("3", #"{"title":"東京タワー","by":"Åse"}"#))
            for (text, ids) in [
                ("whale zz", ["2"]), ("whale qq", []), ("zz", ["2"]), ("qq", []), ("zZ*", ["2"]), (#""zz""#, ["2"]),
                (#""zz"*"#, ["2"]), (#"zz "z t""#, ["2"]), ("w", ["1", "2"]), ("whal oy", ["1"]), ("東京", ["3"]),
                ("京タ", ["3"]), ("京東", []), ("タワー 東", ["3"]), ("åS", ["3"]),
            ] {
                try expect(try await trial.search(text).sorted(), equals: ids, text)
                let query = RecordQuery(collection: "books", .search(index: "words", text: text))
                try expect(try await trial.store.count(query, in: "A"), equals: ids.count, text)
            }
            var query = RecordQuery(collection: "books", .search(index: "words", text: "w"), limit: 1)
            let first = try await trial.store.read(query, in: "A")
            query.after = first.next
            let second = try await trial.store.read(query, in: "A")
            try expect((first.records + second.records).map(\.id), equals: ["1", "2"])
            try expect(second.next == nil, "there is no further page")
        },
        Requirement("Invalid definitions of indexes of texts are refused.") { trial in
            for index in [
                IndexDefinition(paths: ["title"], isUnique: true, text: TextIndexing()),
                IndexDefinition(paths: ["title"], text: TextIndexing(prefixes: [0])),
                IndexDefinition(paths: ["title"], text: TextIndexing(prefixes: [33])),
                IndexDefinition(paths: ["title"], text: TextIndexing(prefixes: Array(1...9))),
            ] {
                try await trial.requireError(.callInvalidInput) { try await trial.define(index) }
            }
        },
        Requirement("A search can be limited to a state of the collection.") { trial in
            try await trial.withWords { trial in
                let change = try await trial.page(limit: 0).change
                func search() async throws {
                    let query = RecordQuery(
                        collection: "books", .search(index: "words", text: "moon"),
                        if: [.unchanged(collection: "books", since: change)])
                    _ = try await trial.store.read(query, in: "A")
                }
                try await search()
                try await trial.write(trial.save("other"))
                try await trial.requireError(.storeConflict) { try await search() }
            }
        },
    ]
}

extension RecordStoreTrial {
    fileprivate func defineWords() async throws {
        try await define(
            IndexDefinition(
                paths: ["title", "authors.name", "subjects"], name: "words", text: TextIndexing(prefixes: [1, 3])))
    }

    /// Runs the steps of a requirement with books whose words are indexed, unless the engine does not support full
    /// text.
    fileprivate func withWords(_ body: (RecordStoreTrial) async throws -> Void) async throws {
        guard store.capabilities.contains(.fullText) else { return }
        try await defineWords()
        try await write(
            save("moon", #"{"title":"From the Earth to the Moon","authors":[{"name":"Jules Verne"}],"year":1865}"#),
            save("sea", #"{"title":"Twenty Thousand Leagues under","authors":[{"name":"Jules Verne"}]}"#),
            save(
                "moby", #"{"title":"Moby-Dick","authors":[{"name":"Herman Melville"}],"subjects":["whales","the sea"]}"#
            ),
            save(
                "three",
                #"{"title":"The Three Musketeers","authors":[{"name":"Alexandre Dumas"},{"name":"Auguste Maquet"}]}"#),
            save("foam", #"{"title":"L’Écume des jours","authors":{"name":"Boris Vian"},"subjects":"fiction"}"#),
            save("none", #"{"title":7,"authors":[7,{"name":["nested"]}],"subjects":null}"#), save("broken", "{\"title"))
        try await body(self)
    }

    fileprivate func search(_ text: String, in index: String = "words", limit: Int = 100) async throws -> [String] {
        let query = RecordQuery(collection: "books", .search(index: index, text: text), limit: limit)
        return try await store.read(query, in: "A").records.map(\.id)
    }
}
