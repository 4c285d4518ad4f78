import Synchronization

/// The trace that a call is a part of: an id that stays the same along the call's path.
///
/// A trace has the fields of W3C Trace Context (https://www.w3.org/TR/trace-context/), so it can be received from other
/// programs and sent to them.
public struct Trace: Sendable {
    /// The bytes of the frame: the id (16), the span (8), the flags (1) and zeros.
    typealias Bytes = (
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8,
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
    )
    private var words: (UInt64, UInt64, UInt64, UInt64)

    /// The id of the trace: 32 hexadecimal digits in lower case.
    public var id: String { Self.hexadecimal(words.0) + Self.hexadecimal(words.1) }

    /// The trace as the value of a `traceparent` header: version 00, the id, the parent span and the flags.
    public var traceparent: String {
        let flags = Self.hexadecimal(words.3).prefix(2)
        return "00-\(id)-\(Self.hexadecimal(words.2))-\(flags)"
    }

    /// Reads the value of a `traceparent` header, of version 00 or later; returns `nil` if it is malformed.
    public init?(traceparent: String) {
        let text = Array(traceparent.utf8), dash = UInt8(ascii: "-")
        guard text.count >= 55, text[2] == dash, text[35] == dash, text[52] == dash,
            let version = Self.number(text[0..<2]), version != 0xFF,
            text.count == 55 || version > 0 && text[55] == dash,
            let high = Self.number(text[3..<19]), let low = Self.number(text[19..<35]), high | low != 0,
            let span = Self.number(text[36..<52]), span != 0, let flags = Self.number(text[53..<55])
        else { return nil }
        // Only the flags of version 00 are known: whether the caller records the trace.
        words = (high.bigEndian, low.bigEndian, span.bigEndian, ((flags & 1) << 56).bigEndian)
    }

    /// Creates the trace of a frame; returns `nil` if its id is zero.
    init?(_ bytes: Bytes) {
        words = unsafeBitCast(bytes, to: (UInt64, UInt64, UInt64, UInt64).self)
        if words.0 | words.1 == 0 { return nil }
    }

    private init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    var bytes: Bytes { unsafeBitCast(words, to: Bytes.self) }

    /// Begins a trace, whose flags permit other programs to record it.
    package static func random() -> Trace {
        Trace(words: (TraceNumbers.next(), TraceNumbers.next(), TraceNumbers.next(), (UInt64(1) << 56).bigEndian))
    }

    private static func hexadecimal(_ word: UInt64) -> String {
        let digits = String(UInt64(bigEndian: word), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Parses lower-case hexadecimal digits; returns `nil` for any other characters.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}

/// The generator of ids: SplitMix64 (Steele, Lea and Flood, 2014), seeded by the system once in each process and
/// library.
private enum TraceNumbers {
    private static let state = Atomic<UInt64>(.random(in: 0 ..< .max))

    /// Returns the next number, which is never 0.
    static func next() -> UInt64 {
        var number = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        return max(number ^ number >> 31, 1)
    }
}
