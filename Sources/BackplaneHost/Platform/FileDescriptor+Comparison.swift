import Glibc

extension FileDescriptor {
    /// Returns whether two files contain the same bytes in a range; unreadable bytes count as different.
    borrowing func isSame(as other: borrowing FileDescriptor, in range: Range<Int>) -> Bool {
        // Files that differ mostly do so near the beginning, so that one small piece is enough.
        let pieces = stride(from: range.lowerBound, to: range.upperBound, by: 1 << 16).map {
            $0..<min($0 + 1 << 16, range.upperBound)
        }
        for piece in pieces {
            guard let ours = try? bytes(in: piece), let theirs = try? other.bytes(in: piece), ours == theirs,
                ours.count == piece.count
            else { return false }
        }
        return true
    }

    /// Returns the bytes of a range, independent of the current position, or fewer if the file ends earlier.
    private borrowing func bytes(in range: Range<Int>) throws(SystemError) -> [UInt8] {
        let number = number
        var bytes = [UInt8](repeating: 0, count: range.count), filled = 0
        while filled < bytes.count {
            let count = try retryingInterrupted {
                bytes.withUnsafeMutableBytes {
                    pread(number, $0.baseAddress! + filled, $0.count - filled, range.lowerBound + filled)
                }
            }
            if count == 0 { break }
            filled += count
        }
        return Array(bytes.prefix(filled))
    }
}
