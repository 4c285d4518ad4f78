/// The value of a `Content-Range` field with bytes (RFC 9110, section 14.4).
struct ContentRange: Sendable, Equatable {
    /// The first and the last byte of the part.
    var first: Int64, last: Int64
    /// The number of bytes of the whole file, or `nil` if the server does not know it.
    var total: Int64?

    /// Parses a value; returns `nil` for another unit, a value without a range, or a contradictory value.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last else {
            return nil
        }
        (self.first, self.last) = (first, last)
        guard parts[1] != "*" else { return }
        guard let total = Self.number(parts[1]), last < total else { return nil }
        self.total = total
    }

    private static func number(_ digits: Substring) -> Int64? {
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int64(digits)
    }
}
