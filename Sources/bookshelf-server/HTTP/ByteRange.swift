#if Engines
/// What of a file a `Range` header asks for (RFC 9110, 14.2).
enum ByteRange: Hashable, Sendable {
    /// No range, several of them, another unit or nonsense: the header is to be ignored.
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

    /// First and last position, of which one may be missing.
    private static func parsed(_ header: String) -> (Int?, Int?)? {
        let unit = "bytes="
        guard header.lowercased().hasPrefix(unit) else { return nil }
        let ends = header.dropFirst(unit.count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.contains(where: { !$0.isEmpty }) else { return nil }
        guard ends.allSatisfy({ $0.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) }) else { return nil }
        // A number too large for an integer is beyond the end of every file.
        let positions = ends.map { $0.isEmpty ? nil : Int($0) ?? .max }
        return (positions[0], positions[1])
    }
}
#endif
