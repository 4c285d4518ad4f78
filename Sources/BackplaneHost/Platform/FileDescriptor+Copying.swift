import CBackplaneHost
import Glibc

extension FileDescriptor {
    /// Copies a file of `size` bytes into an empty one by the cheapest available method, and returns the number of
    /// bytes.
    ///
    /// If the file system supports it, the copy is a clone, which shares its storage until one of the files is written
    /// to. Otherwise the kernel copies the bytes, or this process does so through a buffer. A file that is written to
    /// in the meantime can contain fewer or more bytes than `size`; the caller also compares its status before and
    /// after.
    ///
    /// - Precondition: Both files are positioned at their start, and `target` is empty.
    borrowing func copyContents(_ size: Int, to target: borrowing FileDescriptor) throws(SystemError) -> Int {
        if bph_share_contents(number, target.number) != 0 { return size }
        var copied = 0
        while copied < size {
            let count = bph_copy_inside(number, target.number, Int64(size - copied))
            if count < 0, errno == EINTR { continue }
            // Bytes that the kernel cannot copy may still be readable, or reading reports the reason.
            if count <= 0 { break }
            copied += Int(count)
        }
        return copied < size ? copied + (try copy(to: target, limit: size - copied)) : copied
    }

    /// Releases the storage of some pages of the file, if the file system supports this; they then read as zeros.
    borrowing func punchHole(at range: Range<Int>) {
        // Includes the rest of the last page, which the file may not fill: a file system releases only whole blocks.
        let page = Int(getpagesize()), length = (range.count + page - 1) / page * page
        _ = bph_punch_hole(number, Int64(range.lowerBound), Int64(length))
    }

    /// Returns whether a range of the file has no storage and therefore reads as zeros.
    borrowing func isHole(_ range: Range<Int>) -> Bool {
        let next = lseek(number, range.lowerBound, Self.seekData)
        return next < 0 ? errno == ENXIO : next >= range.upperBound
    }

    /// The constant `SEEK_DATA`, which the headers declare only with `_GNU_SOURCE`.
    private static let seekData: Int32 = 3
}
