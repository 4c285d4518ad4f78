import CBackplane
import Testing

@testable import Backplane
@testable import BackplaneHost

/// The table that both sides compare, and its hash.
struct LayoutTableTests {
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
