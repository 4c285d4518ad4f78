import Backplane
import BackplaneStorage
import Glibc

/// The lines of a file or of standard input, read lazily.
struct DumpReader: ~Copyable {
    private let path: String
    private let descriptor: Int32
    private var bytes: [UInt8] = []
    private var start = 0
    private var isEnded = false
    /// The maximum length of a line: that of a record of maximum size in base64.
    private static let limit = 128 << 20

    /// Opens a file.
    ///
    /// - Parameter path: The path, or `-` for standard input.
    /// - Throws: `store.unusable`.
    init(_ path: String) throws(BackplaneError) {
        self.path = path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable(path) }
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// Returns the next line without its newline, or `nil` at the end.
    mutating func next() throws(BackplaneError) -> [UInt8]? {
        var searched = start
        while true {
            if let end = bytes[searched...].firstIndex(of: 0x0A) {
                defer { start = end + 1 }
                return Array(bytes[start..<end])
            }
            if isEnded {
                defer { start = bytes.count }
                return start < bytes.count ? Array(bytes[start...]) : nil
            }
            bytes.removeSubrange(..<start)
            (start, searched) = (0, bytes.count)
            guard bytes.count < Self.limit else {
                throw BackplaneError(.callInvalidInput, "a line is longer than \(Self.limit >> 20) MB", at: path)
            }
            try read()
        }
    }

    private mutating func read() throws(BackplaneError) {
        let size = 1 << 16, old = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: size))
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + old, size) }
        guard count >= 0 || errno == EINTR else { throw Self.unreadable(path) }
        bytes.removeLast(size - max(count, 0))
        isEnded = count == 0
    }

    private static func unreadable(_ path: String) -> BackplaneError {
        BackplaneError(.storeUnusable, "the file cannot be read: \(String(cString: strerror(errno)))", at: path)
    }
}
