import BackplaneNetwork
import Testing

@testable import BackplaneCommand

/// `backplane transfer` on a terminal.
struct TransferTerminalTests {
    @Test func `rows of any text fit on the terminal`() {
        let states = (0..<30).map { number in
            TransferState(id: "図書館/\(number)" + String(repeating: "鯨", count: 80), owner: "", isUpload: false)
        }
        for (columns, rows) in [(40, 10), (80, 24), (200, 32)] {
            let table = TransferTableView.table(states, columns, rows)
            #expect(table.count == min(rows - 1, 31))
            #expect(table.allSatisfy { $0.unicodeScalars.reduce(0) { $0 + ($1.value > 0x2FFF ? 2 : 1) } < columns })
            #expect(table.last == "… and \(30 - (rows - 3)) more" || rows == 32)
        }
    }
}
