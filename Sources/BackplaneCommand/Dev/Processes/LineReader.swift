import Glibc

/// Takes what comes through a pipe apart into lines.
enum LineReader {
    /// The rest of a longer line counts as the next.
    static let longestLine = 1 << 20

    /// Reads until the end; text that is no UTF-8 comes repaired.
    static func read(_ descriptor: Int32, _ take: (String) -> Void) {
        var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
            while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? (bytes.count > longestLine ? bytes.endIndex - 1 : nil) {
                take(line(bytes[...end]))
                bytes.removeSubrange(...end)
            }
        }
        if !bytes.isEmpty { take(line(bytes[...])) }
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
