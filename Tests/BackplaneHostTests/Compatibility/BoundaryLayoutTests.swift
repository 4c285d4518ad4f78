import CBackplane
import FoundationEssentials
import Testing

@testable import Backplane

/// What is released stays: the current header beside the one that is kept of ABI 0 (docs/boundary-compatibility.md).
@Suite(.timeLimit(.minutes(5)))
struct BoundaryLayoutTests {
    private static let current = Result { try HeaderSurvey(in: LoadingFixture.header).layout() }
    private static let abi0 = Result { try HeaderSurvey(in: CompatibilityFolder.abi0).layout() }

    @Test func `the layout of the current header is the recorded one`() throws {
        try expectRecorded(Self.current.get().text, at: CompatibilityFolder.path + "/layouts.txt")
    }

    @Test func `the header that is kept of ABI 0 is laid out as it was when it was kept`() throws {
        let kept = try String(contentsOfFile: CompatibilityFolder.abi0 + "/layouts.txt", encoding: .utf8)
        #expect(try Self.abi0.get().text == kept, "neither is ever changed or recorded again")
    }

    @Test func `everything of ABI 0 keeps its place in the current header, and additions come after it`() throws {
        let kept = try BoundaryLayout(
            text: String(contentsOfFile: CompatibilityFolder.abi0 + "/layouts.txt", encoding: .utf8))
        #expect(kept.structs.count > 20 && kept.constants.count > 30 && kept.functions.count > 10, "it is read")
        let breaches = try Self.current.get().breaches(of: kept)
        #expect(breaches == [], "\(breaches.joined(separator: "\n"))")
    }

    @Test func `it is what the header's own table says`() throws {
        let layout = try Self.current.get(), check = bp_check_self()
        let table = UnsafeBufferPointer(start: check.fields, count: check.field_count).map { field in
            "\(field.name.map { String(cString: $0) } ?? "?") at \(field.offset), \(field.size) bytes"
        }
        let surveyed = layout.structs.flatMap { type in
            type.fields.map { "\(type.name).\($0.name) at \($0.offset), \($0.size) bytes" }
        }
        #expect(surveyed.sorted() == table.sorted())
    }

    @Test func `the structs that never grow are those whose comments say so`() throws {
        let names = try Self.current.get().structs.filter(\.neverGrows).map(\.name)
        #expect(names == ["bp_bytes", "bp_call", "bp_pair", "bp_field", "bp_canary", "bp_self_check"])
    }

    @Test func `every other struct says its size, so that it may grow`() throws {
        for type in try Self.current.get().structs where !type.neverGrows {
            #expect(type.fields.contains { $0.name == "size" && $0.type == "uint32_t" }, "\(type.name)")
        }
    }
}
