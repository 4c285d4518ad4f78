import Backplane
import CBackplane

/// The number of elements of a JSON array, counted without decoding them.
///
/// The count is used only for statistics and computed for each batch of a stream; `JSONGrammar` would copy each string.
enum JSONArrayLength {
    /// Counts the commas between the elements; the result is only meaningful for a JSON array.
    static func of(_ array: bp_bytes) -> Int {
        var depth = 0, commas = 0, isText = false, isEscaped = false, hasContent = false
        for byte in array.lent {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): (isText, hasContent) = (true, true)
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                if depth > 0 { hasContent = true }
                depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ","): if depth == 1 { commas += 1 }
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): break
            default: hasContent = true
            }
        }
        return hasContent ? commas + 1 : 0
    }
}
