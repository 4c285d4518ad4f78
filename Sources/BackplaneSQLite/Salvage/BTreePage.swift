#if Engines
/// A page of one of SQLite's b-trees, in which every number is checked before it is used.
///
/// The format is described in "Database File Format" of SQLite, section 1.6, "B-tree Pages".
struct BTreePage {
    enum Kind: UInt8 {
        case indexInterior = 0x02, tableInterior = 0x05, indexLeaf = 0x0A, tableLeaf = 0x0D

        var isInterior: Bool { self == .indexInterior || self == .tableInterior }
        var isIndex: Bool { self == .indexInterior || self == .indexLeaf }
    }

    let number: Int
    let kind: Kind
    /// The number of the child page after the last cell, or `nil` on leaves.
    let rightChild: Int?
    private let bytes: [UInt8]
    private let pages: DatabasePages
    /// The offsets of the cells, in key order.
    private let cells: [Int]

    /// Reads a page, or returns `nil` if that fails or the page does not belong to a tree.
    init?(_ number: Int, in pages: DatabasePages) {
        let start = number == 1 ? 100 : 0
        guard let bytes = pages[number], let kind = Kind(rawValue: bytes[start]) else { return nil }
        let headerSize = kind.isInterior ? 12 : 8, count = bytes.halfWord(at: start + 3),
            cellsEnd = start + headerSize + 2 * count
        guard cellsEnd <= pages.usable else { return nil }
        let cells = (0..<count).map { bytes.halfWord(at: start + headerSize + 2 * $0) }
        guard cells.allSatisfy({ $0 >= cellsEnd && $0 < pages.usable }) else { return nil }
        (self.number, self.kind, self.bytes, self.pages, self.cells) = (number, kind, bytes, pages, cells)
        rightChild = kind.isInterior ? Int(bytes.word(at: start + 8)) : nil
    }

    var cellCount: Int { cells.count }

    /// Returns the number of the child page before a cell, or `nil` on leaves.
    func leftChild(of cell: Int) -> Int? {
        kind.isInterior && cells[cell] + 4 <= bytes.count ? Int(bytes.word(at: cells[cell])) : nil
    }

    /// Returns the values in a cell, or `nil` if it has none or is damaged.
    func row(of cell: Int) -> RowValues? { payload(of: cell).flatMap { RowValues($0) } }

    /// Returns the number of the row in a cell, or `nil` if it has none or is damaged.
    func rowNumber(of cell: Int) -> Int? {
        var place = cells[cell]
        guard kind == .tableLeaf, bytes.variableInteger(at: &place) != nil else { return nil }
        return bytes.variableInteger(at: &place)
    }

    /// Returns the bytes of the row in a cell, or `nil` if the cell has none or is damaged.
    private func payload(of cell: Int) -> [UInt8]? {
        var place = cells[cell] + (kind.isInterior ? 4 : 0)
        guard kind != .tableInterior, let size = bytes.variableInteger(at: &place) else { return nil }
        if kind == .tableLeaf, bytes.variableInteger(at: &place) == nil { return nil }
        // A size beyond that of the whole database is damage, and must not become an allocation.
        guard size >= 0, size <= pages.count * pages.size else { return nil }
        let local = localSize(of: size)
        guard place + local + (local < size ? 4 : 0) <= pages.usable else { return nil }
        let start = Array(bytes[place..<place + local])
        return local == size ? start : overflowing(start, to: size, from: Int(bytes.word(at: place + local)))
    }

    /// Returns the number of bytes of a payload that are on the page itself.
    private func localSize(of size: Int) -> Int {
        let usable = pages.usable, most = kind.isIndex ? (usable - 12) * 64 / 255 - 23 : usable - 35
        if size <= most { return size }
        let least = (usable - 12) * 32 / 255 - 23, rest = least + (size - least) % (usable - 4)
        return rest <= most ? rest : least
    }

    /// Returns a payload with the parts from its chain of overflow pages.
    ///
    /// - Parameters:
    ///   - start: The part on the page itself.
    ///   - size: The size of the whole payload in bytes.
    ///   - first: The number of the first overflow page.
    private func overflowing(_ start: [UInt8], to size: Int, from first: Int) -> [UInt8]? {
        var payload = start, next = first, seen: Set<Int> = []
        while payload.count < size {
            guard seen.insert(next).inserted, pages.overflow.note(next), let page = pages[next] else { return nil }
            payload += page[4..<min(pages.usable, 4 + size - payload.count)]
            next = Int(page.word(at: 0))
        }
        return payload
    }
}

extension [UInt8] {
    /// Reads an integer of one to nine bytes and advances the position past it, or returns `nil` if the bytes end
    /// earlier.
    func variableInteger(at place: inout Int) -> Int? {
        var value: UInt64 = 0
        for length in 1...9 {
            guard place < count else { return nil }
            let byte = self[place]
            place += 1
            if length == 9 { return Int(bitPattern: UInt(value << 8 | UInt64(byte))) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { break }
        }
        return Int(bitPattern: UInt(value))
    }
}
#endif
