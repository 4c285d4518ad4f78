#if Engines
/// The part of a file that a `Range` header requests (RFC 9110, section 14.2).
enum ByteRange: Hashable, Sendable {
    /// The whole file: the header is absent, malformed, in another unit or with several ranges, and is ignored.
    case whole
    case part(ClosedRange<Int>)
    case unsatisfiable

    init(_ header: String?, size: Int) {
        guard let header, let (first, last) = Self.parsed(header) else {
            self = .whole
            return
        }
        switch (first, last) {
        case (let first?, let last?) where last < first: self = .whole
        case (let first?, _) where first >= size: self = .unsatisfiable
        case (let first?, let last): self = .part(first...min(last ?? .max, size - 1))
        case (nil, let count?) where count > 0 && size > 0: self = .part(max(size - count, 0)...size - 1)
        case (nil, _): self = .unsatisfiable
        }
    }

    /// Returns the first and last position of a range, either of which may be missing.
    private static func parsed(_ header: String) -> (Int?, Int?)? {
        let unit = "bytes="
        guard header.lowercased().hasPrefix(unit) else { return nil }
        let ends = header.dropFirst(unit.count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.contains(where: { !$0.isEmpty }) else { return nil }
        guard ends.allSatisfy({ $0.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) }) else {
            return nil
        }
        // A number too large for `Int` is beyond the end of every file.
        let positions = ends.map { $0.isEmpty ? nil : Int($0) ?? .max }
        return (positions[0], positions[1])
    }
}
#endif
