import Glibc

/// A reader that splits the contents of a pipe into lines.
package enum LineReader {
    /// The maximum length of a line in bytes; the rest of a longer one counts as the next line.
    static let longestLine = 1 << 20

    /// Reads lines until the end of file, repairing invalid UTF-8.
    ///
    /// - Parameters:
    ///   - unfinished: A function called with a line that has begun, but has not continued for a while.
    ///   - take: A function called with each line.
    package static func read(_ descriptor: Int32, unfinished: ((String) -> Void)? = nil, _ take: (String) -> Void) {
        var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let unfinished, !bytes.isEmpty, isQuiet(descriptor) { unfinished(line(bytes[...])) }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
            var rest = bytes[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n"))
                ?? (rest.count >= longestLine ? rest.startIndex + longestLine - 1 : nil)
            {
                take(line(rest[...end]))
                rest = rest[(end + 1)...]
            }
            bytes.removeSubrange(..<rest.startIndex)
        }
        if !bytes.isEmpty { take(line(bytes[...])) }
    }

    /// Returns whether no input arrives for about a third of a second.
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
