import CBackplane
import Testing

@testable import Backplane
@testable import BackplaneHost

/// The table that both sides compare, and its hash.
@Suite(.timeLimit(.minutes(5)))
struct LayoutTableTests {
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

    @Test func `a side agrees with itself`() throws {
        try SelfCheck.require(bp_check_self())
        #expect(bp_check_self().layout_hash != 0)
    }

    /// Only the required ones, as a plugin in another language may have it.
    @Test func `the fields that a table must have are enough`() {
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
