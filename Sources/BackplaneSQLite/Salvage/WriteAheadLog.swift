#if Engines
import Foundation

/// The newest committed contents of pages in a write-ahead log.
///
/// The format is described in "Database File Format" of SQLite, section 4, "The Write-Ahead Log".
struct WriteAheadLog {
    /// The size of a page in bytes.
    let pageSize: Int
    /// The size of the database in pages after the last commit.
    private(set) var pageCount = 0
    /// The offset in the log of each page's newest contents, by page number.
    private(set) var offsets: [Int: Int] = [:]

    private static let headerSize = 32, frameHeaderSize = 24

    /// Reads a log, or returns `nil` if its header is not valid.
    init?(_ file: PageFile) {
        guard let header = file.bytes(at: 0, count: Self.headerSize), header.word(at: 0) & ~1 == 0x377F_0682 else {
            return nil
        }
        pageSize = Int(header.word(at: 8))
        guard DatabasePages.isPageSize(pageSize) else { return nil }
        var sum = Checksum(isBigEndian: header.word(at: 0) & 1 == 1)
        sum.add(header[..<24])
        guard sum.matches(header, at: 24) else { return nil }
        readFrames(of: file, salt: header[16..<24], sum: sum)
    }

    /// Reads frames until the first whose salt or checksum does not match, and retains those up to the last commit.
    private mutating func readFrames(of file: PageFile, salt: ArraySlice<UInt8>, sum: Checksum) {
        var sum = sum, offset = Self.headerSize, uncommitted: [Int: Int] = [:]
        while let frame = file.bytes(at: offset, count: Self.frameHeaderSize + pageSize) {
            sum.add(frame[..<8])
            sum.add(frame[Self.frameHeaderSize...])
            guard frame[8..<16].elementsEqual(salt), sum.matches(frame, at: 16) else { return }
            uncommitted[Int(frame.word(at: 0))] = offset + Self.frameHeaderSize
            let size = Int(frame.word(at: 4))
            if size > 0 {
                offsets.merge(uncommitted) { $1 }
                uncommitted = [:]
                pageCount = size
            }
            offset += Self.frameHeaderSize + pageSize
        }
    }

    /// The cumulative checksum of a log, which consists of two sums over pairs of words.
    private struct Checksum {
        let isBigEndian: Bool
        private var first: UInt32 = 0, second: UInt32 = 0

        init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

        /// Adds bytes, whose number is a multiple of eight.
        mutating func add(_ bytes: ArraySlice<UInt8>) {
            bytes.withUnsafeBytes { bytes in
                for offset in stride(from: 0, to: bytes.count, by: 8) {
                    first &+= word(bytes, offset) &+ second
                    second &+= word(bytes, offset + 4) &+ first
                }
            }
        }

        /// Returns a Boolean value that indicates whether the bytes at an offset are the sums, in big-endian order.
        func matches(_ bytes: [UInt8], at offset: Int) -> Bool {
            bytes.word(at: offset) == first && bytes.word(at: offset + 4) == second
        }

        private func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
        }
    }
}

extension [UInt8] {
    /// Returns the big-endian number in the four bytes at an offset.
    func word(at offset: Int) -> UInt32 { self[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
    /// Returns the big-endian number in the two bytes at an offset.
    func halfWord(at offset: Int) -> Int { Int(self[offset]) << 8 | Int(self[offset + 1]) }
}
#endif
