import Foundation
import TestFixtures
import Testing

/// The commands `backplane store …`, on a file and through the host that has it open.
@Suite(.timeLimit(.minutes(10)))
struct StoreToolTests {
    private let tool: Tool
    private let manifest: String

    init() throws {
        tool = try Tool()
        manifest = try tool.write(
            """
            {"manifestVersion": 1, "plugins": [{"library": "FixturesInC"}],
             "managers": {"NumberStore": {"className": "NumberStore", "dataAccessController": {"className": "Shelf"}}}}
            """, as: "number-store.json")
    }

    private func store(_ words: String..., data: String? = nil, input: String? = nil) async throws -> Tool.Outcome {
        try await tool.start(
            ["store"] + words + ["--manifest", manifest, "--data", data ?? tool.data], input: input
        ).end()
    }

    private func keep(_ numbers: ClosedRange<Int>) async throws {
        for number in numbers {
            let outcome = try await tool.run("call", manifest, "NumberStore", "keep", "\(number)")
            try #require(outcome.status == 0, "\(outcome.errors)")
        }
    }

    private struct Row: Decodable, Equatable {
        var namespace, collection: String
        var records: Int
        var bytes: Int
    }

    private func rows(data: String? = nil) async throws -> [Row] {
        let list = try await store("list", "--json", data: data)
        try #require(list.status == 0, "\(list.errors)")
        return try JSONDecoder().decode([Row].self, from: Data(list.output.utf8))
    }

    /// The store's file, relative to the data folder.
    private func file() throws -> String {
        try #require(
            FileManager.default.enumerator(atPath: tool.data)?.compactMap { $0 as? String }.first {
                $0.hasSuffix("/store.sqlite")
            })
    }

    /// The only collection: the records that `keep` stores have 194 bytes each.
    private func expected(_ records: Int) -> [Row] {
        [Row(namespace: "Shelf", collection: "numbers", records: records, bytes: records * 194)]
    }

    @Test func `without a store there is nothing to list, and nothing is made`() async throws {
        let list = try await store("list")
        #expect(list.status == 1 && list.errors.contains("there is no store yet"), "\(list.errors)")
        #expect(try await store("schemas").status == 1)
        #expect(!FileManager.default.fileExists(atPath: tool.data))
    }

    @Test func `a command that names no manifest where there is none makes no sense`() async throws {
        let folder = tool.folder + "/empty"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let outcome = try await RunningTool(
            ["store", "list"], of: BuiltProducts.folder + "/backplane", input: nil, in: folder
        ).end()
        #expect(outcome.status == 64 && outcome.errors.contains("no manifest was specified"), "\(outcome.errors)")
    }

    @Test func `what is dumped is restored, in another folder and byte for byte`() async throws {
        try await keep(1...3)
        #expect(try await rows() == expected(3))
        let list = try await store("list")
        // With the time of the last change.
        #expect(list.output.contains("Shelf") && list.output.contains(/numbers .* 20\d\d-\d\d-\d\d/), "\(list.output)")

        let dump = try await store("dump"), lines = dump.output.split(separator: "\n")
        #expect(dump.status == 0 && lines.count == 4 && dump.errors == "", "\(dump.errors)")
        #expect(lines.first == #"{"collection":"numbers","indexes":[],"namespace":"Shelf"}"#)
        let other = tool.folder + "/other",
            restored = try await store("restore", "-", data: other, input: "\u{FEFF}" + dump.output)
        #expect(restored.status == 0 && restored.output == "restored 3 records\n", "\(restored.errors)")
        #expect(try await store("dump", "Shelf", "numbers", data: other).output == dump.output)

        struct Line: Decodable { var id: String }
        let id = try JSONDecoder().decode(Line.self, from: Data(lines[1].utf8)).id
        let record = try await store("get", "Shelf", "numbers", id)
        #expect(lines[1].hasSuffix(#""value":\#(record.output.dropLast())}"#))
        #expect(try await store("get", "Shelf", "numbers", "none").errors.contains("there is no such record"))
        let misspelt = try await store("get", "Shelf", "number", id)
        #expect(misspelt.status == 1 && misspelt.errors.contains("did you mean `numbers`?"), "\(misspelt.errors)")
        #expect(try await store("dump", "Nobody").status == 1)
    }

    @Test func `nothing is restored for a manifest that is not there`() async throws {
        let line = #"{"namespace":"A","collection":"b","id":"1","value":1}"#
        let restored = try await tool.start(
            ["store", "restore", "-", "--manifest", tool.folder + "/misspelt.json", "--data", tool.data], input: line
        ).end()
        #expect(restored.status == 1 && restored.errors.contains("manifest.unreadable"), "\(restored.errors)")
        #expect(!FileManager.default.fileExists(atPath: tool.data))
    }

    @Test func `a dump that cannot be read, or has a mistake anywhere, creates nothing`() async throws {
        let missing = try await store("restore", tool.folder + "/none")
        #expect(missing.status == 1 && missing.errors.contains("cannot be read"), "\(missing.errors)")
        func piped(_ dump: String) async throws -> Tool.Outcome {
            let words = ["store", "restore", "-", "--manifest", manifest, "--data", tool.data]
            return try await RunningTool(
                ["-c", #"printf '%s' "$0" | "$@""#, dump, BuiltProducts.folder + "/backplane"] + words, of: "/bin/sh",
                input: nil, environment: ["XDG_RUNTIME_DIR": tool.folder]
            ).end()
        }
        let sound = #"{"namespace":"A","collection":"b","id":"1","value":1}"# + "\n"
        for line in ["{}", #"{"namespace":"A","collection":"b","id":"","value":1}"#] {
            for outcome in [try await store("restore", "-", input: sound + line), try await piped(sound + line)] {
                #expect(outcome.status == 1 && outcome.errors.contains("line 2: "), "\(outcome.errors)")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: tool.data))
        #expect(try await piped(sound).output == "restored 1 records\n")
    }

    @Test func `records that are there are replaced only if that is meant`() async throws {
        try await keep(1...2)
        let dump = try await store("dump").output
        let refused = try await store("restore", "-", input: dump)
        #expect(refused.status == 1 && refused.errors.contains("--overwrite"), "\(refused.errors)")
        let changed = dump.replacing(#","value":"#, with: #","value":[0],"was":"#)
        #expect(try await store("restore", "-", "--overwrite", input: changed).status == 0)
        #expect(try await store("dump").output.contains(#""value":[0]"#))
        for (text, reason) in [
            ("{}", "line 1: /namespace: call.invalid-input: `namespace` is missing; expected a line"),
            ("[1", "line 1: call.invalid-input: expected a JSON object"),
            (#"{"namespace":"A","collection":"b"}"#, "indexes"),
            (#"{"namespace":"A","collection":"b","id":"1"}"#, "no `value`"),
            (#"{"namespace":"A","collection":"b","id":"","value":1}"#, "an id of 1"),
        ] {
            let outcome = try await store("restore", "-", input: dump.prefix(0) + text + "\n")
            #expect(outcome.status == 1 && outcome.errors.contains(reason), "\(text): \(outcome.errors)")
        }
        #expect(try await rows().map(\.records) == [2])
    }

    @Test func `a damaged file is moved aside by a host, and a dump brings its records back`() async throws {
        try await keep(1...3)
        let dump = try await store("dump").output
        let file = try file()
        let bytes = Data(repeating: 0x5A, count: 8_192)
        try bytes.write(to: URL(filePath: "\(tool.data)/\(file)"))
        let list = try await store("list")
        #expect(list.status == 1 && list.errors.contains("store.damaged"), "\(list.errors)")
        #expect(list.errors.contains("was not changed"), "\(list.errors)")

        try await keep(4...4)
        let aside = FileManager.default.enumerator(atPath: tool.data)?.compactMap { $0 as? String }.first {
            $0.hasPrefix("\(file).damaged-")
        }
        #expect(try Data(contentsOf: URL(filePath: "\(tool.data)/\(try #require(aside))")) == bytes)
        let restored = try await store("restore", "-", "--overwrite", input: dump)
        #expect(restored.status == 0 && restored.output == "restored 3 records\n", "\(restored.errors)")
        let after = try await store("dump").output.split(separator: "\n")
        #expect(dump.split(separator: "\n").allSatisfy(after.contains))
    }

    @Test func `a dump of a damaged store has the collections that can be read`() async throws {
        let padding = String(repeating: "x", count: 3_000)
        var lines = (100..<120).map {
            #"{"namespace":"Shelf","collection":"books","id":"\#($0)","value":"book-\#($0) \#(padding)"}"# + "\n"
        }
        lines.append(#"{"namespace":"Shelf","collection":"numbers","id":"1","value":1}"# + "\n")
        try #require(try await store("restore", "-", input: lines.joined()).status == 0)
        let path = URL(filePath: "\(tool.data)/\(try file())")
        var bytes = try Data(contentsOf: path)
        let page = try #require(bytes.range(of: Data("book-110".utf8))).lowerBound / 4_096 * 4_096
        bytes.replaceSubrange(page..<page + 4_096, with: Data(repeating: 0x5A, count: 4_096))
        try bytes.write(to: path)
        let dump = try await store("dump")
        #expect(dump.status == 1 && dump.errors.contains("Shelf/books ends early"), "\(dump.errors)")
        #expect(dump.output.hasSuffix(#""id":"1","namespace":"Shelf","value":1}"# + "\n"), "\(dump.output)")
    }

    @Test func `a running host is asked, and sees what is restored`() async throws {
        try await keep(1...2)
        let running = try await tool.startRun(manifest)
        #expect(try await rows() == expected(2))
        let dump = try await store("dump").output
        let third = dump.split(separator: "\n")[1].replacing(#""id":"0"#, with: #""id":"9"#)
        let restored = try await store("restore", "-", input: third + "\n")
        #expect(restored.status == 0, "\(restored.errors)")
        let count = try await tool.start(["call", "--running", "NumberStore", "list"]).end()
        #expect(try JSONDecoder().decode([String].self, from: Data(count.output.utf8)).count == 3)
        #expect(try await store("check").output == "the store is sound\n")
        running.signal(SIGTERM)
        #expect(await running.end().status == 0)
        #expect(try await rows() == expected(3))
    }

    @Test func `records are counted by their schema`() async throws {
        try await keep(1...2)
        let line = #"{"namespace":"Shelf","collection":"books","id":"1","value":{"@schema":3,"id":"1"}}"#
        #expect(try await store("restore", "-", input: line + "\n").status == 0)
        let schemas = try await store("schemas")
        #expect(
            schemas.output.contains(/books +3 +1/) && schemas.output.contains(/numbers +1 +2/), "\(schemas.output)")
    }
}
