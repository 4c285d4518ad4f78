import Testing

@testable import BackplaneApp

@Suite(.timeLimit(.minutes(5)))
struct `Lines of an input` {
    private func all(_ lines: inout TerminalLines) -> [TerminalLines.Line] {
        var all: [TerminalLines.Line] = []
        while let line = lines.next() {
            all.append(line)
            if line == .end { break }
        }
        return all
    }

    @Test(arguments: [1, 2, 3, 100])
    func `pieces of any size have the same lines`(size: Int) {
        let bytes = Array("1\n\n2 möby\r\n3".utf8)
        var lines = TerminalLines(), read: [TerminalLines.Line] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            lines.append(bytes[start..<min(start + size, bytes.count)])
            read += all(&lines)
        }
        #expect(read == [.text("1"), .text(""), .text("2 möby")])
        lines.end()
        #expect(all(&lines) == [.text("3"), .end])
        #expect(lines.next() == .end)
    }

    @Test func `a line is there once, and the others wait`() {
        var lines = TerminalLines()
        lines.append("1\n2\n".utf8)
        #expect(lines.next() == .text("1"))
        #expect(lines.next() == .text("2"))
        #expect(lines.next() == nil)
    }

    @Test(arguments: [1 << 8, 1 << 12, 1 << 21])
    func `a line that is too long is dropped, and the next one is read`(size: Int) {
        let count = TerminalLines.longest + (3 << 12)
        var lines = TerminalLines(), read: [TerminalLines.Line] = []
        for start in stride(from: 0, to: count, by: size) {
            lines.append([UInt8](repeating: UInt8(ascii: "1"), count: min(size, count - start)))
            read += all(&lines)
        }
        lines.append("\n2\n".utf8)
        read += all(&lines)
        #expect(read == [.tooLong, .text("2")])
    }

    @Test func `a line of 1 MB is read`() {
        var lines = TerminalLines()
        lines.append([UInt8](repeating: UInt8(ascii: "1"), count: TerminalLines.longest))
        #expect(lines.next() == nil)
        lines.append("\n".utf8)
        #expect(lines.next() == .text(String(repeating: "1", count: TerminalLines.longest)))
    }

    @Test func `the end of a line that is too long is the end`() {
        var lines = TerminalLines()
        lines.append([UInt8](repeating: UInt8(ascii: "1"), count: TerminalLines.longest + 1))
        lines.end()
        #expect(all(&lines) == [.tooLong, .end])
    }
}
