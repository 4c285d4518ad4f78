import CBackplaneHost
import Glibc

extension FileDescriptor {
    /// Copies the first `size` bytes into an empty file, the cheapest way that the file systems offer, and returns how many there were.
    ///
    /// The copy shares what the file holds until either is written to; otherwise the kernel copies, or else a buffer of this process is used.
    /// Both files are read and written from where they stand.
    borrowing func copyContents(_ size: Int, to target: borrowing FileDescriptor) throws(SystemError) -> Int {
        if bph_share_contents(number, target.number) != 0 { return size }
        var copied = 0
        while copied < size {
            let count = bph_copy_inside(number, target.number, Int64(size - copied))
            if count < 0, errno == EINTR { continue }
            // What the kernel cannot copy may still be read, or reading says why not.
            if count <= 0 { break }
            copied += Int(count)
        }
        return copied < size ? copied + (try copy(to: target, limit: size - copied)) : copied
    }

    /// Gives the room of some pages of the file back, where the file system can; they read as zeros then.
    borrowing func punchHole(at range: Range<Int>) {
        // Of the last page, too, which the file may not fill: a file system gives back what is covered whole.
        let page = Int(getpagesize()), length = (range.count + page - 1) / page * page
        _ = bph_punch_hole(number, Int64(range.lowerBound), Int64(length))
    }

    /// Whether nothing is stored for a stretch of the file, which reads as zeros.
    borrowing func isHole(_ range: Range<Int>) -> Bool {
        let next = lseek(number, range.lowerBound, Self.seekData)
        return next < 0 ? errno == ENXIO : next >= range.upperBound
    }

    /// `SEEK_DATA`, which the headers show only to those who ask for Linux's own.
    private static let seekData: Int32 = 3
}
