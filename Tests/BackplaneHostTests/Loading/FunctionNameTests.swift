import Foundation
import Testing

@testable import BackplaneHost

/// Names of functions out of a library's own symbols.
struct FunctionNameTests {
    private static let source = """
        static __attribute__((noinline)) int hidden(int x) { return x * 3; }
        int shown(int x) { return hidden(x) + 1; }
        """

    private func image(_ flags: String...) throws -> ELFImage {
        try ELFImage(LoadingFixture.library(of: Self.source, flags))
    }

    /// Every function's name, from every offset of the file.
    private func names(_ image: ELFImage) -> [String] {
        var names: [String] = []
        for offset in 0..<UInt(image.bytes.count) {
            if let name = image.functionName(at: offset), names.last != name { names.append(name) }
        }
        return names
    }

    @Test func `a function is found by any byte of its code, one that is not exported too`() throws {
        #expect(Set(["hidden", "shown"]).isSubset(of: names(try image("-O1", "-nostdlib"))))
    }

    @Test func `a library that was stripped knows what it exports`() throws {
        let names = names(try image("-O1", "-nostdlib", "-s"))
        #expect(names == ["shown"])
    }

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
