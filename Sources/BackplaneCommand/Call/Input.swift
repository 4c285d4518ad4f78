import Backplane
import Glibc

/// The standard input of a command.
enum Input {
    /// Reads standard input to its end.
    ///
    /// - Parameter limit: The maximum size, in bytes.
    /// - Throws: `BackplaneError` if the input is longer than `limit` or cannot be read.
    static func standard(limit: Int) throws(BackplaneError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(STDIN_FILENO, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw BackplaneError(
                    .callInvalidInput, "standard input cannot be read: \(String(cString: strerror(errno)))")
            }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else {
                throw BackplaneError(.callInvalidInput, "standard input has more than \(limit) bytes")
            }
        }
    }
}
