#if Engines
import BackplaneStorage
import Foundation

/// The tables in which versions of the store have kept records, as found by a walk through the pages.
enum RecordLayout {
    /// The table `record` of the first version, a tree in the order of namespaces, collections and ids.
    case unversioned
    /// The table `records`, a tree in the order of row numbers, and the names of the collections.
    case versioned(CollectionNames)

    /// The order of records in the tree.
    enum Key {
        case texts([String])
        case number(Int)

        /// Returns whether a key comes before another in the order of SQLite.
        func precedes(_ other: Key) -> Bool {
            switch (self, other) {
            case (.number(let one), .number(let other)): return one < other
            case (.texts(let one), .texts(let other)):
                guard let place = one.indices.first(where: { !one[$0].utf8.elementsEqual(other[$0].utf8) }) else {
                    return false
                }
                return one[place].utf8.lexicographicallyPrecedes(other[place].utf8)
            default: return false
            }
        }
    }

    /// Returns the layouts that a file may have: those of its schema, or all if the schema is damaged.
    static func all(_ names: CollectionNames, _ schema: BTreePage?, in pages: DatabasePages) -> [RecordLayout] {
        let layouts = [RecordLayout.unversioned, .versioned(names)]
        guard let schema else { return layouts }
        let present = layouts.filter { $0.root(in: schema, pages) != nil }
        return present.isEmpty ? layouts : present
    }

    private var table: String {
        switch self {
        case .unversioned: "record"
        case .versioned: "records"
        }
    }

    /// Returns the root page of the table according to the schema, which may extend beyond the first page.
    func root(in schema: BTreePage, _ pages: DatabasePages) -> Int? {
        var waiting = [schema.number], seen = Set(waiting)
        while let number = waiting.popLast() {
            guard let page = BTreePage(number, in: pages), !page.kind.isIndex else { continue }
            let children = (0..<page.cellCount).map { page.leftChild(of: $0) } + [page.rightChild]
            waiting += children.compactMap(\.self).filter { seen.insert($0).inserted }
            for cell in 0..<page.cellCount {
                if let values = page.row(of: cell)?.values, values.count == 5, values[0] == .text("table"),
                    values[1] == .text(table), case .integer(let root) = values[3]
                {
                    return root
                }
            }
        }
        return nil
    }

    /// Returns whether the tree consists of pages of a kind.
    func contains(_ kind: BTreePage.Kind) -> Bool {
        switch self {
        case .unversioned: kind.isIndex
        case .versioned: !kind.isIndex
        }
    }

    /// Returns the record in a cell, or `nil` if there is none, or its checksum does not match.
    func record(_ page: BTreePage, _ cell: Int) -> (place: RecordWalk.Place, key: Key, record: StoredRecord)? {
        guard let values = page.row(of: cell)?.values else { return nil }
        switch self {
        case .unversioned:
            guard values.count == 4, case .text(let namespace) = values[0], case .text(let collection) = values[1],
                case .text(let id) = values[2], case .bytes(let value) = values[3]
            else { return nil }
            return (
                RecordWalk.Place(namespace: namespace, collection: collection), .texts([namespace, collection, id]),
                StoredRecord(id: id, value: value)
            )
        case .versioned(let names):
            guard let number = page.rowNumber(of: cell), values.count == 6, case .integer(let collection) = values[1],
                case .bytes(let id) = values[2], case .integer(let version) = values[3],
                case .integer(let checksum) = values[4], case .bytes(let value) = values[5]
            else { return nil }
            let sum = RecordChecksum.of(
                collection: Int64(collection), id: Data(id), version: Int64(version), value: value)
            guard sum == Int64(checksum), 0 < version, version < Int.max else { return nil }
            let record = StoredRecord(id: String(decoding: id, as: UTF8.self), value: value, version: Int64(version))
            return (names.place(of: collection), .number(number), record)
        }
    }
}

/// The names of collections and the numbers of their records, as far as they are readable.
///
/// The table `collections` and its index both contain the names, on different pages.
struct CollectionNames {
    private var places: [Int: RecordWalk.Place] = [:]
    /// The numbers of records, keyed by collection, where readable.
    private(set) var counts: [RecordWalk.Place: Int] = [:]
    /// The highest change number of the collections, where readable.
    private(set) var lastChange = 0

    /// Scans all pages, because the path to those of a table may be damaged.
    init(_ pages: DatabasePages) {
        for number in 1...max(1, pages.count) {
            guard let page = BTreePage(number, in: pages), page.kind != .tableInterior else { continue }
            for cell in 0..<page.cellCount {
                // The first row identifies the table.
                if !take(page, cell) { break }
            }
        }
    }

    /// Reads a row, and returns whether it is one of the collections.
    private mutating func take(_ page: BTreePage, _ cell: Int) -> Bool {
        guard let values = page.row(of: cell)?.values else { return false }
        if values.count == 7, page.kind == .tableLeaf, let number = page.rowNumber(of: cell),
            case .text(let namespace) = values[1], case .text(let name) = values[2],
            case .integer(let change) = values[3], case .integer(let count) = values[6]
        {
            let place = RecordWalk.Place(namespace: namespace, collection: name)
            (places[number], counts[place]) = (place, count)
            if change < .max { lastChange = max(lastChange, change) }
            return true
        }
        if values.count == 3, page.kind.isIndex, case .text(let namespace) = values[0],
            case .text(let name) = values[1], case .integer(let number) = values[2]
        {
            places[number] = RecordWalk.Place(namespace: namespace, collection: name)
            return true
        }
        return false
    }

    /// Returns the namespace and the name of a collection, or a substitute name if its own is lost.
    func place(of number: Int) -> RecordWalk.Place {
        places[number] ?? RecordWalk.Place(namespace: "@salvaged", collection: "collection-\(number)")
    }
}
#endif
