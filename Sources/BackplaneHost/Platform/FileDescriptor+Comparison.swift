import Glibc

extension FileDescriptor {
    /// Do two files hold the same bytes there? What cannot be read is not the same.
    borrowing func isSame(as other: borrowing FileDescriptor, in range: Range<Int>) -> Bool {
        // What differs mostly differs where it begins: a small piece shows that.
        let pieces = stride(from: range.lowerBound, to: range.upperBound, by: 1 << 16).map { $0..<min($0 + 1 << 16, range.upperBound) }
        for piece in pieces {
            guard let ours = try? bytes(in: piece), let theirs = try? other.bytes(in: piece), ours == theirs, ours.count == piece.count else { return false }
        }
        return true
    }

    /// The bytes at `range`, whatever was read before; fewer only where the file ends before.
    private borrowing func bytes(in range: Range<Int>) throws(SystemError) -> [UInt8] {
        let number = number
        var bytes = [UInt8](repeating: 0, count: range.count), filled = 0
        while filled < bytes.count {
            let count = try retryingInterrupted {
                bytes.withUnsafeMutableBytes { pread(number, $0.baseAddress! + filled, $0.count - filled, range.lowerBound + filled) }
            }
            if count == 0 { break }
            filled += count
        }
        return Array(bytes.prefix(filled))
    }
}
