import FoundationEssentials
import Glibc

extension Output {
    /// Bytes on standard output, as they are.
    static func write(_ bytes: Data) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { return }     // nobody reads any more
            rest = rest.dropFirst(max(count, 0))
        }
    }
}
