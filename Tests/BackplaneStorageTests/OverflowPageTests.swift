import Foundation
import Testing

@testable import BackplaneSQLite

/// What a repair reads of the chains of pages that long rows are continued on.
@Suite(.timeLimit(.minutes(1)))
struct OverflowPageTests {
    private static let pageSize = 4_096

    /// Returns a database with a leaf whose cells are all one, with a row that goes over a chain of pages.
    private static func file(cells: Int, chain: Int) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        func page(_ content: [UInt8]) -> [UInt8] { content + [UInt8](repeating: 0, count: pageSize - content.count) }
        let header = Array("SQLite format 3\0".utf8) + [0x10, 0]
        // 489 bytes are on the leaf itself, and 4,092 on each page of the chain.
        let size = 489 + chain * (pageSize - 4), place = pageSize - 600
        var leaf = [0x0D, 0, 0, UInt8(cells >> 8), UInt8(cells & 0xFF), 0, 0, 0]
        for _ in 0..<cells { leaf += [UInt8(place >> 8), UInt8(place & 0xFF)] }
        leaf += [UInt8](repeating: 0, count: place - leaf.count)
        leaf += [UInt8(size >> 14 | 0x80), UInt8(size >> 7 & 0x7F | 0x80), UInt8(size & 0x7F), 1]
        leaf += [UInt8](repeating: 0, count: 489) + number(3)
        let pages = (0..<chain).map { page(number($0 + 1 < chain ? $0 + 4 : 0)) }
        return page(header) + page(leaf) + pages.flatMap { $0 }
    }

    @Test func `of one long chain that all cells share no page is read for each of them`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "chain-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let chain = 200, cells = 400
        try Data(Self.file(cells: cells, chain: chain)).write(to: URL(filePath: path))
        let pages = try #require(DatabasePages(path)), leaf = try #require(BTreePage(2, in: pages))
        #expect(pages.count == chain + 2 && leaf.cellCount == cells && leaf.kind == .tableLeaf)
        _ = leaf.row(of: 0)
        #expect(pages.overflow.total == chain, "the whole row is read")
        for cell in 1..<cells { _ = leaf.row(of: cell) }
        #expect(pages.overflow.total == Int(OverflowReadings.limit) * chain)
    }
}
