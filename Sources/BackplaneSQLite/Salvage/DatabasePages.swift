#if Engines
/// The pages of a database after its last commit, from its write-ahead log or else from its file.
struct DatabasePages {
    /// The size of a page in bytes.
    let size: Int
    /// The part of a page that SQLite uses, in bytes.
    let usable: Int
    /// The number of pages, which are numbered from 1.
    let count: Int
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
#endif
