import Glibc

/// Takes what comes through a pipe apart into lines.
package enum LineReader {
    /// The rest of a longer line counts as the next.
    static let longestLine = 1 << 20

    /// Reads until the end; text that is no UTF-8 comes repaired.
    ///
    /// - Parameter unfinished: told of a line that has begun, and does not go on for a while.
    package static func read(_ descriptor: Int32, unfinished: ((String) -> Void)? = nil, _ take: (String) -> Void) {
        var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let unfinished, !bytes.isEmpty, isQuiet(descriptor) { unfinished(line(bytes[...])) }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
            var rest = bytes[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? (rest.count >= longestLine ? rest.startIndex + longestLine - 1 : nil) {
                take(line(rest[...end]))
                rest = rest[(end + 1)...]
            }
            bytes.removeSubrange(..<rest.startIndex)
        }
        if !bytes.isEmpty { take(line(bytes[...])) }
    }

    /// Nothing comes for a third of a second.
    private static func isQuiet(_ descriptor: Int32) -> Bool {
        var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&input, 1, 300) == 0
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
