import Backplane
import CBackplane

/// The check that a plugin's compiler laid out `backplane.h` in the same way as the host's compiler.
enum SelfCheck {
    /// Compares a plugin's self-check with the host's own.
    ///
    /// - Throws: `plugin.layout-mismatch`, which names the first different value or field.
    static func require(_ theirs: bp_self_check, like own: bp_self_check = bp_check_self()) throws(BackplaneError) {
        try requireCanary(theirs.canary, like: own.canary)
        if theirs.layout_hash == own.layout_hash { return }
        // One side is newer, or they disagree: the fields that both know decide.
        let table = try LayoutTable(theirs)
        try table.requireEqual(to: LayoutTable(own))
        guard table.hash == theirs.layout_hash else {
            throw mismatch(
                "the hash of the plugin's layout table is \(hex(table.hash)), but the plugin reports \(hex(theirs.layout_hash)); compute it as bp_layout_hash does"
            )
        }
    }

    static func mismatch(_ message: String) -> BackplaneError { BackplaneError(.pluginLayoutMismatch, message) }

    static func hex<Number: FixedWidthInteger>(_ number: Number) -> String {
        "0x" + String(Number.Magnitude(truncatingIfNeeded: number), radix: 16, uppercase: true)
    }
}

/// The canary: fixed values of every kind that the header uses.
extension SelfCheck {
    private static func requireCanary(_ theirs: bp_canary, like own: bp_canary) throws(BackplaneError) {
        guard theirs.u8 != 0 || theirs.u64 != 0 || theirs.length != 0 else {
            throw mismatch(
                "the plugin's answer has no self-check; set `self_check` to bp_check_self(), as part 6 of backplane.h describes"
            )
        }
        // In the order of the header: bytes are dereferenced only after all numbers were right.
        for (name, value) in values {
            let (expected, found) = (value(own), value(theirs))
            guard found == expected else {
                throw mismatch(
                    "the value `\(name)` of the plugin's self-check is \(found), expected \(expected); build the plugin for this machine, with the header's own layout"
                )
            }
        }
    }

    private static var values: [(name: String, value: (bp_canary) -> String)] {
        [
            ("u8", { hex($0.u8) }), ("u16", { hex($0.u16) }),
            ("u8_before_u32", { hex($0.u8_before_u32) }), ("u32", { hex($0.u32) }),
            ("u8_before_u64", { hex($0.u8_before_u64) }), ("u64", { hex($0.u64) }),
            ("i32", { "\($0.i32)" }), ("i64", { "\($0.i64)" }),
            ("letters", { "\($0.letters.0) \($0.letters.1) \($0.letters.2)" }),
            ("length", { hex($0.length) }),
            ("pointer", { hex(UInt(bitPattern: $0.pointer)) }),
            ("function", { $0.function == nil ? "NULL" : "an address" }),
            (
                "bytes",
                { $0.bytes.length == 9 ? "`\($0.bytes.text)`" : "of length \(UInt(bitPattern: $0.bytes.length))" }
            ),
        ]
    }
}
