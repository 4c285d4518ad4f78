import Backplane
import CBackplane

/// The offsets and sizes of all fields in the header's structs, as laid out by one side's compiler (`BP_LAYOUT`).
struct LayoutTable {
    /// The hash computed from the table.
    let hash: UInt64
    private let fields: [String: bp_field]

    /// Reads one side's table.
    ///
    /// - Throws: `plugin.layout-mismatch` for an invalid table.
    init(_ check: bp_self_check) throws(BackplaneError) {
        guard let table = check.fields else {
            throw SelfCheck.mismatch(
                "the plugin does not report the field offsets of backplane.h; set `fields` to the table BP_LAYOUT"
            )
        }
        // A `size_t` beyond `Int.max` arrives as a negative number.
        guard (0...65_535).contains(check.field_count) else {
            throw SelfCheck.mismatch(
                "the plugin's layout table has \(UInt(bitPattern: check.field_count)) entries, which cannot be a table of this header"
            )
        }
        hash = bp_layout_hash(table, check.field_count)
        let named = UnsafeBufferPointer(start: table, count: check.field_count).compactMap { field in
            field.name.map { (String(cString: $0), field) }
        }
        fields = Dictionary(named, uniquingKeysWith: { first, _ in first })
    }

    /// Compares every field that is known to both sides.
    ///
    /// - Throws: `plugin.layout-mismatch`, which names the first different or missing field.
    func requireEqual(to host: LayoutTable) throws(BackplaneError) {
        for name in fields.keys.sorted() {
            guard let ours = host.fields[name], let found = fields[name],
                ours.offset != found.offset || ours.size != found.size
            else { continue }
            throw SelfCheck.mismatch(
                "\(name) is \(ours.size) bytes at offset \(ours.offset) in the host and \(found.size) at \(found.offset) in the plugin; build both with one backplane.h"
            )
        }
        for name in Self.required where fields[name] == nil {
            throw SelfCheck.mismatch(
                "the plugin does not report the offset of \(name); set `fields` to the table BP_LAYOUT")
        }
    }

    /// The fields that are used in every load, as listed in part 6 of the header.
    ///
    /// A table without them proves nothing.
    static let required = [
        "bp_call.path", "bp_method.name", "bp_component.call", "bp_creation.handle", "bp_answer.components",
    ]
}
