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

    @Test func `requests and responses`() {
        HTTPRequest("POST", "http://localhost/", headers: ["A": "b"], body: [1, 2]).withC { request in
            expect(
                [request.pointee], { HTTPRequest(copying: $0) },
                gives: HTTPRequest("POST", "http://localhost/", headers: ["A": "b"], body: [1, 2]),
                upTo: \.body, butThen: HTTPRequest("POST", "http://localhost/", headers: ["A": "b"]))
        }
        HTTPResponse(status: 200, headers: ["A": "b"], body: [1, 2]).withC { response in
            expect(
                [response.pointee], { HTTPResponse(copying: $0) },
                gives: HTTPResponse(status: 200, headers: ["A": "b"], body: [1, 2]),
                upTo: \.headers, butThen: HTTPResponse(status: 200))
        }
    }

    @Test func `queries, changes and records`() {
        let query = RecordQuery(collection: "c", ids: ["a"], offset: 1, limit: 2)
        query.withC { lent in
            expect(
                [lent.pointee], { try RecordQuery(copying: $0) }, gives: query, upTo: \.offset,
                butThen: RecordQuery(collection: "c", ids: ["a"], offset: 0, limit: 0))
        }
        let changes = [
            RecordChange.save(collection: "c", StoredRecord(id: "a", value: [1])), .delete(collection: "c", id: "b"),
            .deleteAll(collection: "d"),
        ]
        changes.withC { lent in
            expect(Array(lent), { try [RecordChange](copying: $0, count: 3) }, gives: changes)
        }
        let records = [StoredRecord(id: "a", value: [1]), StoredRecord(id: "b", value: [2, 3])]
        RecordPage(records: records, total: 2).withC(of: "c") { lent in
            expect(
                Array(lent), { try StoredRecord.copy($0, count: 2) }, gives: records,
                upTo: \.value, butThen: [StoredRecord(id: "a", value: []), StoredRecord(id: "b", value: [])])
        }
    }

    @Test func `records that cannot be any are an error, and not none`() throws {
        let memory = GuardedMemory([bp_record()], size: 12)
        let refused = withExtendedLifetime(memory) {
            #expect(throws: BackplaneError.self) { try StoredRecord.copy(memory.pointer(), count: 1) }
        }
        #expect(refused?.code == .storeUnusable)
        #expect(throws: BackplaneError.self) { try StoredRecord.copy(nil, count: 1) }
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
