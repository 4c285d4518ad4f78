#if Engines
/// The pages of a database after its last commit, from its write-ahead log or otherwise from its file.
struct DatabasePages {
    /// The size of a page in bytes.
    let size: Int
    /// The part of a page that SQLite uses, in bytes.
    let usable: Int
    /// The number of pages, which are numbered from 1.
    let count: Int
    /// The reads of overflow pages so far.
    let overflow: OverflowReadings
    private let file: PageFile
    private let log: (file: PageFile, index: WriteAheadLog)?

    /// The page size that SQLite uses by default, as stores do.
    private static let usualSize = 4_096

    /// Opens the files of a database, or returns `nil` if the main one cannot be opened.
    init?(_ path: String) {
        guard let file = PageFile(path) else { return nil }
        self.file = file
        log = PageFile(path + "-wal").flatMap { log in WriteAheadLog(log).map { (log, $0) } }
        let header = file.bytes(at: 0, count: 100),
            isHeader = header.map { $0.starts(with: Array("SQLite format 3\0".utf8)) } ?? false
        let announced = header.map { $0.halfWord(at: 16) == 1 ? 65_536 : $0.halfWord(at: 16) } ?? 0
        let size = isHeader && Self.isPageSize(announced) ? announced : log?.index.pageSize ?? Self.usualSize
        self.size = size
        usable = size - (isHeader ? min(Int(header?[20] ?? 0), size - 480) : 0)
        count = max(file.size / size, log?.index.pageCount ?? 0)
        overflow = OverflowReadings(pages: count)
    }

    /// Returns a Boolean value that indicates whether a number of bytes is a valid page size.
    static func isPageSize(_ size: Int) -> Bool { (512...65_536).contains(size) && size & (size - 1) == 0 }

    /// Returns the contents of a page, or `nil` if there is no such page or it cannot be read.
    subscript(number: Int) -> [UInt8]? {
        guard number >= 1, number <= count else { return nil }
        if let log, let offset = log.index.offsets[number], log.index.pageSize == size {
            return log.file.bytes(at: offset, count: size)
        }
        return file.bytes(at: (number - 1) * size, count: size)
    }
}

/// The number of times that each overflow page has been read.
///
/// In a sound file, each of them belongs to one cell, which a repair reads a few times. In a crafted file, many cells
/// could share one long chain, which would be followed to its end for each of them without a limit.
final class OverflowReadings {
    /// The maximum number of times that one page is read.
    static let limit: UInt8 = 16
    private(set) var total = 0
    private var counts: [UInt8]

    init(pages: Int) { counts = Array(repeating: 0, count: pages + 1) }

    /// Records that a page is read, and returns `false` if it has been read too often.
    func note(_ page: Int) -> Bool {
        guard counts.indices.contains(page), counts[page] < Self.limit else { return false }
        counts[page] += 1
        total += 1
        return true
    }
}
#endif
