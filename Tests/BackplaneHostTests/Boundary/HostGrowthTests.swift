import Backplane
import BackplaneNetwork
import BackplaneStorage
import CBackplane
import Testing

@testable import BackplaneHost

/// A host that reads structs of plugins whose header knows more of them, or less.
///
/// All structs end where the readable memory ends, so that one byte too many is a crash.
@Suite(.timeLimit(.minutes(5)))
struct HostGrowthTests {
    /// Reads a value out of structs of several sizes, from the longest on.
    private func expect<Struct, Value: Equatable>(
        _ structs: [Struct], _ read: (UnsafePointer<Struct>) throws -> Value, gives expected: Value,
        upTo end: PartialKeyPath<Struct>? = nil, butThen other: Value? = nil
    ) {
        for more in [0, 8, 32] {
            let memory = GuardedMemory(structs, size: MemoryLayout<Struct>.size + more)
            withExtendedLifetime(memory) { #expect((try? read(memory.pointer())) == expected, "\(more) bytes longer") }
        }
        guard let end, let size = MemoryLayout<Struct>.offset(of: end), let other else { return }
        let memory = GuardedMemory(structs, size: size)
        withExtendedLifetime(memory) { #expect((try? read(memory.pointer())) == other, "cut off at \(size)") }
    }

    private static func parts(of request: HTTPRequest) -> [String] {
        [request.method, request.url] + request.headers.fields.map { "\($0.name): \($0.value)" }
            + ["\(request.body.bytes ?? [])"]
    }

    @Test func `requests and responses`() {
        HTTPRequest("POST", "http://localhost/", headers: ["A": "b"], body: [1, 2]).withC { request in
            expect(
                [request.pointee], { try Self.parts(of: HTTPRequest(copying: $0)) },
                gives: ["POST", "http://localhost/", "A: b", "[1, 2]"],
                upTo: \.body, butThen: ["POST", "http://localhost/", "A: b", "[]"])
        }
        HTTPResponse(status: 200, headers: ["A": "b"], body: [1, 2]).withC { response in
            expect(
                [response.pointee], { HTTPResponse(copying: $0) },
                gives: HTTPResponse(status: 200, headers: ["A": "b"], body: [1, 2]),
                upTo: \.headers, butThen: HTTPResponse(status: 200))
        }
    }

    @Test func `queries and changes of the first revision`() {
        "c".withBytes { collection in
            "a".withBytes { id in
                var id = id
                withUnsafePointer(to: &id) { ids in
                    let lent = bp_store_query(
                        size: 0, reserved: 0, collection: collection, ids: ids, id_count: 1, offset: 1, limit: 2)
                    expect(
                        [lent], { try OffsetQuery(copying: $0) },
                        gives: OffsetQuery(collection: "c", ids: ["a"], offset: 1, limit: 2), upTo: \.offset,
                        butThen: OffsetQuery(collection: "c", ids: ["a"], offset: 0, limit: 0))
                }
            }
        }
        changes.withC { lent in
            expect(Array(lent), { try [RecordChange](copying: $0, count: 3) }, gives: changes)
        }
    }

    private let changes = [
        RecordChange.save(collection: "c", StoredRecord(id: "a", value: [1])), .delete(collection: "c", id: "b"),
        .deleteAll(collection: "d"),
    ]

    @Test func `collections, batches and selections`() {
        let definition = CollectionDefinition(
            "c", indexes: [IndexDefinition("a.b", "c", isUnique: true), IndexDefinition("d", name: "other")])
        definition.withC { lent in
            expect(
                [lent.pointee], { Self.parts(of: try CollectionDefinition(copying: $0)) },
                gives: ["c", "a.b,c: a.b c unique", "other: d"], upTo: \.indexes, butThen: ["c"])
        }
        let batch = RecordBatch(
            changes, if: [.version(collection: "c", id: "a", 7), .unchanged(collection: "d", since: 9)])
        batch.withC { lent in
            expect(
                [lent.pointee], { Self.parts(of: try RecordBatch(copying: $0)) },
                gives: ["3 changes", "c a 7", "d 9"], upTo: \.conditions, butThen: ["3 changes"])
        }
        let texts = ["c", "i", "1", "true", "2", "a"].map { Array($0.utf8) }
        Texts(texts).withBytes { texts in
            texts[2..<4].withUnsafeBufferPointer { equal in
                let lent = bp_store_selection(
                    size: 0, flags: UInt32(BP_SELECT_DESCENDING | BP_SELECT_AFTER_FROM), collection: texts[0],
                    ids: nil, id_count: 0, index: texts[1], equal: equal.baseAddress, equal_count: 2, from: texts[4],
                    to: .empty, after: texts[5], limit: 3, conditions: nil, condition_count: 0)
                expect(
                    [lent], { Self.parts(of: try RecordQuery(copying: $0)) },
                    gives: ["c descending", "i = 1 true", "after 2", "cursor [97]", "limit 3"],
                    upTo: \.from, butThen: ["c descending", "i = 1 true", "limit 0"])
            }
        }
    }

    private static func parts(of definition: CollectionDefinition) -> [String] {
        [definition.name]
            + definition.indexes.map {
                let text = $0.text.map { " \($0.tokenizer) \($0.prefixes)" } ?? ""
                return "\($0.name): \($0.paths.joined(separator: " "))\($0.isUnique ? " unique" : "")\(text)"
            }
    }

    @Test func `indexes of words, also from a plugin that does not know them, and searches`() {
        let texts = IndexDefinition(paths: ["a", "b.c"], name: "w", text: TextIndexing(.english, prefixes: [2, 3]))
        let more = IndexDefinition(paths: ["d"], name: "x", text: TextIndexing(prefixes: [1]))
        CollectionDefinition("c", indexes: [texts, IndexDefinition("b"), more]).withC { lent in
            expect(
                [lent.pointee], { Self.parts(of: try CollectionDefinition(copying: $0)) },
                gives: ["c", "w: a b.c english [2, 3]", "b: b", "x: d unicode [1]"])
        }
        Texts(["c", "i", "a"].map { Array($0.utf8) }).withBytes { texts in
            texts[2..<3].withUnsafeBufferPointer { paths in
                var index = bp_store_index()
                (index.flags, index.name) = (UInt32(BP_INDEX_UNIQUE), texts[1])
                (index.paths, index.path_count) = (paths.baseAddress, 1)
                let earlier = GuardedMemory(
                    [index, index], size: MemoryLayout<bp_store_index>.offset(of: \.tokenizer)!)
                var collection = bp_store_collection()
                (collection.name, collection.indexes, collection.index_count) = (
                    texts[0], UnsafePointer(earlier.pointer(as: bp_store_index.self)), 2
                )
                expect(
                    [collection], { Self.parts(of: try CollectionDefinition(copying: $0)) },
                    gives: ["c", "i: a unique", "i: a unique"])
            }
            let search = bp_store_search(
                size: 0, flags: UInt32(BP_SELECT_WITHOUT_VALUES), collection: texts[0], index: texts[1],
                text: texts[2], limit: 7, conditions: nil, condition_count: 0, after: texts[1])
            expect(
                [search], { lent -> [UInt8] in try RecordQuery(copying: lent).after?.bytes ?? [] }, gives: [105],
                upTo: \.after, butThen: [])
            expect(
                [search],
                { lent -> [String] in
                    let query = try RecordQuery(copying: lent)
                    guard case .search(let index, let text) = query.selection else { return [] }
                    return [query.collection, index, text, "\(query.limit)", "\(query.isWithoutValues)"]
                }, gives: ["c", "i", "a", "7", "true"], upTo: \.limit, butThen: ["c", "i", "a", "0", "true"])
        }
    }

    private static func parts(of batch: RecordBatch) -> [String] {
        ["\(batch.changes.count) changes"]
            + batch.conditions.map { condition in
                switch condition {
                case .version(let collection, let id, let version): "\(collection) \(id) \(version)"
                case .unchanged(let collection, let number): "\(collection) \(number)"
                }
            }
    }

    private static func parts(of query: RecordQuery) -> [String] {
        var parts = [query.collection + (query.isDescending ? " descending" : "")]
        if case .range(let range) = query.selection {
            let values = range.equal.map { value in
                switch value {
                case .integer(let value): "\(value)"
                case .boolean(let value): "\(value)"
                default: "?"
                }
            }
            parts.append("\(range.index ?? "-") = \(values.joined(separator: " "))")
            if case .limits(.integer(let from)?, let isIncluded, nil, _) = range.bounds {
                parts.append("\(isIncluded ? "from" : "after") \(from)")
            }
        }
        if let after = query.after { parts.append("cursor \(after.bytes)") }
        return parts + ["limit \(query.limit)"]
    }

    @Test(arguments: ["", "{}", "[1]", "tru", "1 2", "\"a", "{\"a\":1}"])
    func `a value that is not a number, a text, a Boolean or null is refused`(json: String) {
        Texts([Array("c".utf8), Array(json.utf8)]).withBytes { texts in
            texts[1...].withUnsafeBufferPointer { equal in
                var lent = bp_store_selection()
                lent.size = UInt32(MemoryLayout<bp_store_selection>.size)
                (lent.collection, lent.equal, lent.equal_count) = (texts[0], equal.baseAddress, 1)
                let refused = #expect(throws: BackplaneError.self) { try RecordQuery(copying: &lent) }
                #expect(refused?.code == .callInvalidInput && refused?.location == "c")
            }
        }
    }

    @Test func `pages are read as far as they are known, and records that cannot be any are an error`() throws {
        let records = [
            StoredRecord(id: "a", value: [1], version: 3), StoredRecord(id: "b", value: [2, 3], version: 4),
        ]
        Texts(records.flatMap { [Array($0.id.utf8), $0.value] }).withBytes { texts in
            let lent = records.indices.map { index in
                bp_store_record(
                    size: UInt32(MemoryLayout<bp_store_record>.size), reserved: 0, id: texts[2 * index],
                    value: texts[2 * index + 1], version: records[index].version)
            }
            lent.withUnsafeBufferPointer { lent in
                var page = bp_store_page()
                (page.records, page.record_count, page.change, page.component_change) = (lent.baseAddress, 2, 8, 9)
                expect(
                    [page],
                    { (page) -> [String] in
                        let page = try RecordPage(copying: page)
                        return page.records.map { "\($0.id) \($0.version)" } + ["\(page.change)"]
                    }, gives: ["a 3", "b 4", "8"], upTo: \.change, butThen: ["a 3", "b 4", "0"])
            }
        }
        let odd = GuardedMemory([bp_store_record()], size: 12)
        for records in [UnsafePointer(odd.pointer(as: bp_store_record.self)), nil] {
            var page = bp_store_page()
            page.size = UInt32(MemoryLayout<bp_store_page>.size)
            (page.records, page.record_count) = (records, 1)
            let refused = withExtendedLifetime(odd) {
                #expect(throws: BackplaneError.self) { try RecordPage(copying: &page) }
            }
            #expect(refused?.code == .storeUnusable)
        }
    }

    // MARK: Whole plugins

    /// A plugin in C, compiled with a header of its own, calls a collaborator, logs, and reads what it was made with.
    private func probe(_ header: HeaderText) async throws {
        let folder = try LoadingFixture.Folder()
        try folder.write(LoadingFixture.library(of: header.text + OtherHeaderPlugin.source, []), as: "libFar.so")
        let test = try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "_Challenge"}, {"library": "Far"}],
             "managers": {"Trials": {"className": "TrialManager"},
                          "Far": {"className": "FarManager", "dataAccessController": {"className": "FarStore"}, "uses": {"trials": "Trials"}}}}
            """#,
            pluginPaths: [TestHost.libraries], in: folder)
        #expect(await test.host.check().filter { $0.severity == .error }.map(\.error.detailedDescription) == [])
        let path = try await test.call("Far", "path")
        #expect(path == "[3]", "the third component that was made called the trial manager")
        #expect(try await test.call("Far", "keep") == #"["one", "two"]"#)
        #expect(test.log.lines == ["Far was called", "Far was called"])
        await test.host.stop()
    }

    @Test func `a plugin of a newer header works, all of whose structs have grown`() async throws {
        var header = try HeaderText()
        let sized = header.structs.filter(\.isSized).map(\.name)
        #expect(sized.count > 15)
        header.grow(sized)
        try await probe(header)
    }

    @Test func `a plugin of an older header works, whose structs were shorter`() async throws {
        var header = try HeaderText()
        try header.shrink(["bp_component", "bp_wire", "bp_creation", "bp_connection", "bp_http_response"])
        try await probe(header)
    }

    @Test func `a plugin of this very header works`() async throws {
        try await probe(HeaderText())
    }
}

extension OffsetQuery: Equatable {
    static func == (one: OffsetQuery, other: OffsetQuery) -> Bool {
        one.collection == other.collection && one.ids == other.ids && one.offset == other.offset
            && one.limit == other.limit
    }
}

extension StoredRecord: Equatable {
    static func == (one: StoredRecord, other: StoredRecord) -> Bool {
        one.id == other.id && one.value == other.value && one.version == other.version
    }
}

extension RecordChange: Equatable {
    static func == (one: RecordChange, other: RecordChange) -> Bool {
        switch (one, other) {
        case (.save(let one, let record), .save(let other, let otherRecord)): one == other && record == otherRecord
        case (.delete(let one, let id), .delete(let other, let otherID)): one == other && id == otherID
        case (.deleteAll(let one), .deleteAll(let other)): one == other
        default: false
        }
    }
}
