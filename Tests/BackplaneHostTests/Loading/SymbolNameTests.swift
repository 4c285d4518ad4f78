import Foundation
import Testing

@testable import BackplaneHost

/// Names of functions as people write them.
struct SymbolNameTests {
    @Test(arguments: [
        ("main", "main"), ("$sSS5countSivg", "Swift.String.count.getter : Swift.Int"), ("$s", "$s"), ("", ""),
        ("$s1M1fyyF", "M.f() -> ()"), ("$s1M1f33_0123456789ABCDEF0123456789ABCDEFLLyyF", "M.f() -> ()"),
    ])
    func `Swift's names are given as people write them, others as they are`(symbol: String, name: String) {
        #expect(SymbolName.readable(symbol) == name)
    }

    @Test func `a name is never longer than a line of a log can bear`() {
        #expect(SymbolName.readable(String(repeating: "x", count: 10_000)).count == 200)
    }
}
