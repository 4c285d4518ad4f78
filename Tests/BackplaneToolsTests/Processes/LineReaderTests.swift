import Foundation
import Testing

@testable import BackplaneTools

/// What comes through a pipe, line by line.
struct LineReaderTests {
    private func lines(of bytes: some Sequence<UInt8>) throws -> [String] {
        let pipe = Pipe(), bytes = Data(bytes)
        Thread.detachNewThread {
            try? pipe.fileHandleForWriting.write(contentsOf: bytes)
            try? pipe.fileHandleForWriting.close()
        }
        var lines: [String] = []
        LineReader.read(pipe.fileHandleForReading.fileDescriptor) { lines.append($0) }
        return lines
    }

    @Test func `each line comes without its end, and what has none is one too`() throws {
        #expect(try lines(of: "one\n\ntwo\r\nthree".utf8) == ["one", "", "two", "three"])
        #expect(try lines(of: "".utf8) == [])
    }

    @Test func `many lines come in their order, however they were written`() throws {
        let numbers = (0..<100_000).map { "\($0)" }
        #expect(try lines(of: numbers.joined(separator: "\n").utf8) == numbers)
    }

    @Test func `a line without end is cut, and text that is none is repaired`() throws {
        let cut = try lines(of: [UInt8](repeating: 0x61, count: LineReader.longestLine * 2 + 5))
        #expect(cut.map(\.utf8.count) == [LineReader.longestLine, LineReader.longestLine, 5])
        #expect(try lines(of: [0x61, 0xFF, 0x0A]) == ["a\u{FFFD}"])
    }

    @Test func `an incomplete line is reported, and delivered whole when it is complete`() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("first\nwaiting for".utf8))
        var heard: [String] = []
        LineReader.read(pipe.fileHandleForReading.fileDescriptor) { unfinished in
            heard.append("(\(unfinished))")
            try? pipe.fileHandleForWriting.write(contentsOf: Data(" you\n".utf8))
            try? pipe.fileHandleForWriting.close()
        } _: { line in
            heard.append(line)
        }
        #expect(heard == ["first", "(waiting for)", "waiting for you"])
    }
}
