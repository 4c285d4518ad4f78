#if Engines
import BackplaneStorage

/// A walk through the pages of a damaged store, which finds every record that is still readable.
///
/// It first follows the tree of the table. A scan of all unvisited pages then finds the subtrees that a damaged page
/// has cut off, except for free ones, which contain deleted records. The scan is necessary even if the walk encounters
/// no gap, because an interior page may have been overwritten by a valid leaf.
struct RecordWalk {
    /// The namespace and collection to which a record belongs.
    struct Place: Hashable, Comparable {
        var namespace, collection: String

        static func < (one: Place, other: Place) -> Bool {
            (one.namespace, one.collection) < (other.namespace, other.collection)
        }
    }

    /// The positions before and after an unreadable page or record of the table.
    struct Gap {
        var before, after: Place?
    }

    private let pages: DatabasePages
    private let layout: RecordLayout
    private let found: (Place, StoredRecord) throws -> Void
    private var visited: [Bool]
    private var last: Place?
    /// The key of the last record, by which the tree orders records.
    private var lastKey: RecordLayout.Key?
    private var leaves = 0, recordsOnLeaves = 0
    private(set) var gaps: [Gap] = []

    /// Creates a walk.
    ///
    /// - Parameter found: A function that receives each record; a record that two pages contain is received twice.
    init(_ pages: DatabasePages, _ layout: RecordLayout, found: @escaping (Place, StoredRecord) throws -> Void) {
        (self.pages, self.layout, self.found) = (pages, layout, found)
        visited = Array(repeating: false, count: pages.count + 1)
    }

    /// A Boolean value that indicates whether no record was found.
    private(set) var isEmpty = true

    /// The average number of records on a leaf of the tree, at least one.
    var recordsPerPage: Int { max(1, leaves == 0 ? 1 : recordsOnLeaves / leaves) }

    /// Finds all records, and the gaps between them.
    ///
    /// - Parameter schema: The first page; `nil` if it is damaged.
    mutating func run(_ schema: BTreePage?) throws {
        if let root = schema.flatMap({ layout.root(in: $0, pages) }) {
            try visit(root)
        } else if case .unversioned = layout {
            for root in rootsByTheirLook() { try visit(root) }
        } else {
            // The interior pages of a table do not identify the table, but every leaf does.
            gaps.append(Gap(before: nil, after: nil))
        }
        let knowsFreePages = schema != nil && leaveOutFreePages()
        // If the list of free pages alone is damaged, a scan would only find deleted records.
        if knowsFreePages || !gaps.isEmpty { try visitTheRest() }
    }

    /// Returns the interior pages of records that are not children of another such page.
    private func rootsByTheirLook() -> [Int] {
        var interior: [Int] = [], children: Set<Int> = []
        for number in 1...max(1, pages.count) {
            guard let page = BTreePage(number, in: pages), page.kind == .indexInterior, page.cellCount > 0,
                layout.record(page, 0) != nil
            else {
                continue
            }
            interior.append(number)
            children.formUnion((0..<page.cellCount).compactMap { page.leftChild(of: $0) })
            if let child = page.rightChild { children.insert(child) }
        }
        return interior.filter { !children.contains($0) }
    }

    /// Visits a page and its subtree, in the order of the records.
    private mutating func visit(_ number: Int, depth: Int = 0) throws {
        guard number >= 1, number <= pages.count, !visited[number], depth < 32, let page = BTreePage(number, in: pages),
            layout.contains(page.kind)
        else {
            gaps.append(Gap(before: last, after: nil))
            return
        }
        visited[number] = true
        for cell in 0..<page.cellCount {
            if page.kind.isInterior { try visit(page.leftChild(of: cell) ?? 0, depth: depth + 1) }
            if page.kind != .tableInterior { try take(page, cell) }
        }
        if let child = page.rightChild { try visit(child, depth: depth + 1) }
        if !page.kind.isInterior { leaves += 1 }
    }

    /// Passes on the record in a cell, or records a gap if it cannot be read.
    private mutating func take(_ page: BTreePage, _ cell: Int) throws {
        guard let (place, key, record) = layout.record(page, cell) else {
            return gaps.append(Gap(before: last, after: nil))
        }
        for index in gaps.indices.reversed() where gaps[index].after == nil { gaps[index].after = place }
        // A record out of order is on a page of another place, and those of this place are missing.
        if let last, let lastKey, !lastKey.precedes(key) { gaps.append(Gap(before: last, after: place)) }
        (last, lastKey) = (place, key)
        if !page.kind.isInterior { recordsOnLeaves += 1 }
        isEmpty = false
        try found(place, record)
    }

    /// Scans the unvisited pages for records.
    private mutating func visitTheRest() throws {
        let meetsNoGap = gaps.isEmpty
        for number in 1...max(1, pages.count) where number < visited.count && !visited[number] {
            guard let page = BTreePage(number, in: pages), layout.contains(page.kind),
                page.kind != .tableInterior
            else { continue }
            for cell in 0..<page.cellCount {
                guard let (place, _, record) = layout.record(page, cell) else { continue }
                isEmpty = false
                try found(place, record)
                // The records of the page that led here are missing.
                if meetsNoGap, gaps.isEmpty { gaps.append(Gap(before: nil, after: place)) }
            }
        }
    }

    /// Marks free pages as visited.
    ///
    /// The first page names the first trunk of the free list; each trunk names the next, and free leaves.
    ///
    /// - Returns: Whether their number matches that in the first page.
    private mutating func leaveOutFreePages() -> Bool {
        guard let first = pages[1] else { return false }
        var next = Int(first.word(at: 32)), known = 0
        while next >= 1, next <= pages.count, !visited[next], let page = pages[next] {
            visited[next] = true
            known += 1
            let count = min(Int(page.word(at: 4)), pages.usable / 4 - 2)
            for place in 0..<max(0, count) {
                let free = Int(page.word(at: 8 + 4 * place))
                if free >= 1, free <= pages.count, !visited[free] {
                    visited[free] = true
                    known += 1
                }
            }
            next = Int(page.word(at: 0))
        }
        return known == Int(first.word(at: 36))
    }
}
#endif
