import CBackplane
import Foundation
import Testing

@testable import Backplane
@testable import BackplaneBoundary

/// The table that both sides compare, and its hash.
@Suite(.timeLimit(.minutes(5)))
struct LayoutTableTests {
    private struct Field: Equatable {
        var name: String
        var offset, size: UInt32
    }

    private func table() throws -> [Field] {
        let check = bp_check_self()
        return try UnsafeBufferPointer(start: check.fields, count: check.field_count).map { field in
            Field(name: String(cString: try #require(field.name)), offset: field.offset, size: field.size)
        }
    }

    @Test func `every field of every struct of the header is in it, in the struct's order`() throws {
        let table = try table(), structs = try HeaderText().structs
        #expect(structs.count > 20, "the header is read")
        for expected in structs {
            let names = table.map(\.name).filter { $0.hasPrefix(expected.name + ".") }
            #expect(names == expected.fields.map { "\(expected.name).\($0)" })
        }
        #expect(table.count == structs.reduce(0) { $0 + $1.fields.count })
    }

    @Test func `it says where Swift finds the fields too`() throws {
        let table = try table()
        #expect(
            table.contains(
                Field(name: "bp_call.path", offset: UInt32(MemoryLayout<bp_call>.offset(of: \.path)!), size: 16)))
        #expect(
            table.contains(
                Field(
                    name: "bp_answer.self_check", offset: UInt32(MemoryLayout<bp_answer>.offset(of: \.self_check)!),
                    size: 112)))
    }

    @Test func `the hash is FNV-1a of names, offsets and sizes`() {
        // The test vectors of the algorithm's authors begin with the empty input.
        #expect(bp_layout_hash(nil, 0) == 0xCBF2_9CE4_8422_2325)
        var expected: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in Array("f.x\0".utf8) + [4, 3, 2, 1, 8, 7, 6, 5] {
            expected = (expected ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        "f.x".withCString { name in
            #expect(bp_layout_hash([bp_field(name: name, offset: 0x0102_0304, size: 0x0506_0708)], 1) == expected)
        }
    }

    @Test func `the hash changes with every name, offset and size`() {
        var hashes: Set<UInt64> = []
        for name in ["a", "b", "ab"] {
            for (offset, size) in [(0, 0), (1, 0), (0, 1), (256, 0)] as [(UInt32, UInt32)] {
                _ = name.withCString { name in
                    hashes.insert(bp_layout_hash([bp_field(name: name, offset: offset, size: size)], 1))
                }
            }
        }
        #expect(hashes.count == 12)
    }

    @Test func `a side agrees with itself`() throws {
        try SelfCheck.require(bp_check_self())
        #expect(bp_check_self().layout_hash != 0)
    }

    /// Only the required ones, as a plugin in another language may have it.
    @Test func `the header names the fields that a table must have, and with those alone it is enough`() throws {
        let header = try String(contentsOfFile: LoadingFixture.header + "/backplane.h", encoding: .utf8)
        let sentence = try #require(header.firstMatch(of: /A table must contain ([^*]*?)\.\n/)).output.1
        #expect(sentence.matches(of: /bp_\w+\.\w+/).map { String($0.output) } == LayoutTable.required)
        let whole = bp_check_self()
        for missing in [nil] + LayoutTable.required.map(Optional.some) {
            let fields = UnsafeBufferPointer(start: whole.fields, count: whole.field_count).filter { field in
                let name = field.name.map { String(cString: $0) } ?? ""
                return LayoutTable.required.contains(name) && name != missing
            }
            var check = whole
            check.field_count = fields.count
            check.layout_hash = bp_layout_hash(fields, fields.count)
            let refusal = fields.withUnsafeBufferPointer { fields -> BackplaneError? in
                check.fields = fields.baseAddress
                do throws(BackplaneError) {
                    try SelfCheck.require(check)
                    return nil
                } catch {
                    return error
                }
            }
            #expect((refusal == nil) == (missing == nil))
            #expect(refusal?.message.contains(missing ?? "") != false, "\(refusal?.message ?? "")")
        }
    }
}
