#if Engines
@testable import BookshelfServer
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ByteRangeTests {
    @Test(arguments: [
        ("bytes=0-0", 0...0), ("bytes=0-9", 0...9), ("bytes=3-5", 3...5), ("bytes=3-", 3...9), ("bytes=9-", 9...9),
        ("bytes=5-99", 5...9),
        ("bytes=-1", 9...9), ("bytes=-10", 0...9), ("bytes=-99", 0...9), ("Bytes=1-2", 1...2),
        ("bytes=0-99999999999999999999", 0...9),
    ])
    func `a range of ten bytes`(header: String, range: ClosedRange<Int>) {
        #expect(ByteRange(header, size: 10) == .part(range))
    }

    @Test(arguments: ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=99999999999999999999-"])
    func `a range beyond ten bytes cannot be satisfied`(header: String) {
        #expect(ByteRange(header, size: 10) == .unsatisfiable)
    }

    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=-", "bytes=5-3", "bytes=0-1,3-4", "lines=0-1", "bytes=a-b", "bytes= 0-1",
        "bytes=0-1-2", "bytes=+1-2", "bytes=١-٢",
    ])
    func `what is no single range of bytes is ignored`(header: String) {
        #expect(ByteRange(header, size: 10) == .whole)
    }

    @Test func `without a header the whole is meant`() {
        #expect(ByteRange(nil, size: 10) == .whole)
        #expect(ByteRange(nil, size: 0) == .whole)
    }

    @Test(arguments: ["bytes=0-", "bytes=0-0", "bytes=-1"])
    func `an empty file has no ranges`(header: String) {
        #expect(ByteRange(header, size: 0) == .unsatisfiable)
    }

    @Test func `every range of every small file lies in it`() {
        for size in 1...5 {
            for first in 0...6 {
                for last in 0...6 {
                    let range = ByteRange("bytes=\(first)-\(last)", size: size)
                    let expected: ByteRange =
                        last < first ? .whole : first >= size ? .unsatisfiable : .part(first...min(last, size - 1))
                    #expect(range == expected, "\(first)-\(last) of \(size)")
                }
            }
        }
    }
}
#endif
