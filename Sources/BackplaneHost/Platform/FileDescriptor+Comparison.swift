extension FileDescriptor {
    /// Do two files hold the same bytes there? What cannot be read is not the same.
    borrowing func isSame(as other: borrowing FileDescriptor, in range: Range<Int>) -> Bool {
        // What differs mostly differs where it begins: a small piece shows that.
        var start = range.lowerBound
        while start < range.upperBound {
            let piece = start..<min(start + 1 << 16, range.upperBound)
            guard let ours = try? bytes(in: piece), let theirs = try? other.bytes(in: piece), ours == theirs, ours.count == piece.count else { return false }
            start = piece.upperBound
        }
        return true
    }
}
