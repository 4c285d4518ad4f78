/// The lines of an input that arrives in pieces.
struct TerminalLines: Sendable {
    enum Line: Sendable, Equatable {
        case text(String)
        /// A line of more than ``longest`` bytes, which is not kept.
        case tooLong
        /// The end of the input.
        case end
    }
    /// The number of bytes of the longest line: 1 MB.
    static let longest = 1 << 20
    private var bytes: [UInt8] = []
    /// The number of bytes in which there is no line feed.
    private var searched = 0
    /// A Boolean value that indicates whether the bytes up to the next line feed belong to a line that is too long.
    private var isSkipping = false
    private var hasEnded = false

    mutating func append(_ piece: some Sequence<UInt8>) { bytes += piece }

    /// Notes that nothing follows.
    mutating func end() { hasEnded = true }

    /// Returns the next line; `nil` if more bytes have to arrive first.
    mutating func next() -> Line? {
        while let feed = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = bytes[..<feed], isRest = isSkipping
            (isSkipping, searched) = (false, 0)
            defer { bytes.removeFirst(feed + 1) }
            if isRest { continue }
            guard line.count <= Self.longest else { return .tooLong }
            return .text(String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self))
        }
        searched = bytes.count
        if isSkipping || bytes.count > Self.longest {
            defer { (bytes, searched, isSkipping) = ([], 0, true) }
            if !isSkipping { return .tooLong }
        }
        guard hasEnded else { return nil }
        defer { (bytes, searched) = ([], 0) }
        return bytes.isEmpty || isSkipping ? .end : .text(String(decoding: bytes, as: UTF8.self))
    }
}
