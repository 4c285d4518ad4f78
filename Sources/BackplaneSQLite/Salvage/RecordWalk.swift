#if Engines
import BackplaneStorage

/// A walk through the pages of a damaged store, which finds every record that can still be read.
///
/// Pages that the table's tree leads to come first. Where a page of the tree is damaged, what it led to is found by looking at
/// all pages that nothing else led to; those that are free are left out, since they hold what was deleted.
struct RecordWalk {
    /// A place in a store: whose records, and which.
    struct Place: Hashable, Comparable {
        var namespace, collection: String

        static func < (one: Place, other: Place) -> Bool {
            (one.namespace, one.collection) < (other.namespace, other.collection)
        }
    }

    /// A page of the table that cannot be read, and the places of the records around it.
    struct Gap {
        var before, after: Place?
    }

    private let pages: DatabasePages
    private let found: (Place, StoredRecord) throws -> Void
    private var visited: [Bool]
    private var last: Place?
    private var leaves = 0, recordsOnLeaves = 0
    private(set) var gaps: [Gap] = []

    /// - Parameter found: is given each record, some of them twice when pages are found in two ways.
    init(_ pages: DatabasePages, found: @escaping (Place, StoredRecord) throws -> Void) {
        (self.pages, self.found) = (pages, found)
        visited = Array(repeating: false, count: pages.count + 1)
    }

    /// The number of records that a page of the table holds on average, at least one.
    var recordsPerPage: Int { max(1, leaves == 0 ? 1 : recordsOnLeaves / leaves) }

    mutating func run() throws {
        let schema = BTreePage(1, in: pages)
        if let root = schema.flatMap(Self.root) {
            try visit(root)
            if gaps.isEmpty { return }
        } else {
            let roots = rootsByTheirLook()
            for root in roots { try visit(root) }
            if !roots.isEmpty && gaps.isEmpty { return }
        }
        if schema != nil { leaveOutFreePages() }
        try visitTheRest()
    }

    /// The root of the table `record`, as the schema on the first page has it.
    private static func root(in schema: BTreePage) -> Int? {
        guard schema.kind == .tableLeaf else { return nil }
        for cell in 0..<schema.cellCount {
            if let values = schema.row(of: cell)?.values, values.count == 5, values[0] == .text("table"),
                values[1] == .text("record"),
                case .integer(let root) = values[3]
            {
                return root
            }
        }
        return nil
    }

    /// Interior pages with records on them that no other such page leads to.
    private func rootsByTheirLook() -> [Int] {
        var interior: [Int] = [], children: Set<Int> = []
        for number in 1...max(1, pages.count) {
            guard let page = BTreePage(number, in: pages), page.kind == .indexInterior, page.cellCount > 0,
                page.row(of: 0).flatMap(Self.record) != nil
            else {
                continue
            }
            interior.append(number)
            children.formUnion((0..<page.cellCount).compactMap { page.leftChild(of: $0) })
            if let child = page.rightChild { children.insert(child) }
        }
        return interior.filter { !children.contains($0) }
    }

    /// Visits a page and all that it leads to, in the order of the records.
    private mutating func visit(_ number: Int, depth: Int = 0) throws {
        guard number >= 1, number <= pages.count, !visited[number], depth < 32, let page = BTreePage(number, in: pages),
            page.kind.isIndex
        else {
            gaps.append(Gap(before: last, after: nil))
            return
        }
        visited[number] = true
        for cell in 0..<page.cellCount {
            if page.kind.isInterior { try visit(page.leftChild(of: cell) ?? 0, depth: depth + 1) }
            try take(page, cell)
        }
        if let child = page.rightChild { try visit(child, depth: depth + 1) }
        if page.kind == .indexLeaf { leaves += 1 }
    }

    private mutating func take(_ page: BTreePage, _ cell: Int) throws {
        guard let (place, record) = page.row(of: cell).flatMap(Self.record) else {
            return gaps.append(Gap(before: last, after: nil))
        }
        for index in gaps.indices.reversed() where gaps[index].after == nil { gaps[index].after = place }
        last = place
        if page.kind == .indexLeaf { recordsOnLeaves += 1 }
        try found(place, record)
    }

    /// Visits, one by one, the pages with records that nothing led to.
    private mutating func visitTheRest() throws {
        for number in 1...max(1, pages.count) where number < visited.count && !visited[number] {
            guard let page = BTreePage(number, in: pages), page.kind.isIndex else { continue }
            for cell in 0..<page.cellCount {
                if let (place, record) = page.row(of: cell).flatMap(Self.record) { try found(place, record) }
            }
        }
    }

    /// The list of free pages begins on the first: pages that each name the next, and others that are free.
    private mutating func leaveOutFreePages() {
        var next = pages[1].map { Int($0.word(at: 32)) } ?? 0
        while next >= 1, next <= pages.count, !visited[next], let page = pages[next] {
            visited[next] = true
            let count = min(Int(page.word(at: 4)), pages.usable / 4 - 2)
            for place in 0..<max(0, count) {
                let free = Int(page.word(at: 8 + 4 * place))
                if free >= 1, free <= pages.count { visited[free] = true }
            }
            next = Int(page.word(at: 0))
        }
    }

    private static func record(_ row: RowValues) -> (Place, StoredRecord)? {
        guard row.values.count == 4, case .text(let namespace) = row.values[0],
            case .text(let collection) = row.values[1],
            case .text(let id) = row.values[2], case .bytes(let value) = row.values[3]
        else { return nil }
        return (Place(namespace: namespace, collection: collection), StoredRecord(id: id, value: value))
    }
}
#endif
