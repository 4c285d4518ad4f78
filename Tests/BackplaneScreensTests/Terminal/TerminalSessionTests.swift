import Backplane
import BackplaneScreens
import BackplaneTestKit
import Foundation
import Glibc
import Testing

@testable import BackplaneApp

/// Sessions with real pipes and a real terminal; the process can have only one terminal at a time.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct `Sessions in terminals and through pipes` {
    private static let script = Script(buttons: ["add": { _ in "added" }])

    /// Returns a script with a button that ignores cancellation, and the gate at which it waits.
    private static func stuckScript() -> (script: Script, gate: TestGate) {
        let gate = TestGate()
        let script = Script(buttons: [
            "wait": { _ in
                try await Task { try await gate.pass() }.value
                return "waited"
            }
        ])
        return (script, gate)
    }

    @Test func `a window is text with numbers through a pipe, up to the end of the input`() async throws {
        try await AppManager.withWindow(Self.script) { window, _, _ in
            let input = try Ends(), output = try Ends()
            let text = output.read()
            input.write("9\n1\n")
            input.closeWriting()
            try await TerminalSession(window, input: input.reading, output: output.writing).run()
            output.closeWriting()
            let all = try await text.until { $0.last == .some(nil) }.compactMap(\.self).joined()
            #expect(
                all.hasPrefix(
                    """
                    # Home
                    nothing
                    1) [ add ]

                    `9` is not here; write a number from 1 to 1, or q to quit

                    # Home
                    added
                    1) [ add ]


                    """))
        }
    }

    @Test func `a reader that has gone ends the session`() async throws {
        try await AppManager.withWindow(Self.script) { window, _, _ in
            let input = try Ends(), output = try Ends()
            output.closeReading()
            try await TerminalSession(window, input: input.reading, output: output.writing).run()
        }
    }

    @Test func `a line is taken once the one before is performed and written`() async throws {
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let input = try Ends(), output = try Ends()
        let files = try #require(TerminalFiles(input: input.reading, output: output.writing, change))
        let lines = (0..<5000).map(String.init)
        let text = lines.joined(separator: "\n")
        input.write(text)
        input.closeWriting()
        try #require(files.begin(readsKeys: false))
        var taken: [String] = []
        reading: for await _ in changes {
            // The thread has read one piece, and waits.
            if taken.isEmpty { #expect(input.unread == text.utf8.count - 1 << 12) }
            while let line = files.takeLine() {
                guard case .text(let text) = line else { break reading }
                taken.append(text)
            }
        }
        #expect(taken == lines)
        await files.end()
        files.close()
    }

    @Test func `any number of drawings that nobody reads is one`() async throws {
        let count = Recording<Int>()
        let script = Script(buttons: [
            "add": { _ in
                count.add(1)
                return "added \(count.all.count)"
            }
        ])
        try await AppManager.withWindow(script) { window, _, _ in
            let input = try Ends(), output = try Ends()
            output.fill()
            let session = Task { try await TerminalSession(window, input: input.reading, output: output.writing).run() }
            for _ in 0..<20 { await window.press("add") }
            let text = output.read()
            try await text.until { $0.compactMap(\.self).joined().contains("added 20") }
            input.write("q\n")
            try await session.value
            #expect(text.all.compactMap(\.self).joined().split(separator: "# Home").count <= 3)
        }
    }

    @Test func `a reader that reads nothing does not hold up a stop`() async throws {
        try await AppManager.withWindow(Self.script) { window, _, _ in
            let input = try Ends(), output = try Ends()
            output.fill()
            let session = Task { try await TerminalSession(window, input: input.reading, output: output.writing).run() }
            await window.press("add")
            session.cancel()
            try await session.value
        }
    }

    @Test func `a screen that ignores cancellation holds up neither a stop nor a second q`() async throws {
        for isStop in [true, false] {
            let (script, gate) = Self.stuckScript()
            try await AppManager.withWindow(script) { window, _, _ in
                let input = try Ends(), output = try Ends()
                let session = Task {
                    try await TerminalSession(window, input: input.reading, output: output.writing).run()
                }
                input.write("1\n")
                try await gate.arrivals()
                if isStop { session.cancel() } else { input.write("q\nq\n") }
                try await session.value
                gate.open()
            }
        }
    }

    @Test func `q waits for the line before`() async throws {
        let (script, gate) = Self.stuckScript()
        try await AppManager.withWindow(script) { window, _, _ in
            let input = try Ends(), output = try Ends()
            let text = output.read()
            input.write("1\nq\n")
            let session = Task { try await TerminalSession(window, input: input.reading, output: output.writing).run() }
            try await gate.arrivals()
            gate.open()
            try await session.value
            try await text.until { $0.compactMap(\.self).joined().contains("waited") }
        }
    }

    @Test func `a window that is closed ends the session`() async throws {
        try await AppManager.withWindow(Self.script) { window, _, _ in
            let input = try Ends(), output = try Ends()
            let text = output.read()
            let session = Task { try await TerminalSession(window, input: input.reading, output: output.writing).run() }
            try await text.until { $0.compactMap(\.self).joined().contains("add") }
            await window.close()
            try await session.value
        }
    }

    @Test(.enabled(if: Ends.hasTerminals))
    func `a terminal is used with keys, and restored`() async throws {
        try await AppManager.withWindow(Self.script) { window, _, _ in
            let terminal = try Ends(columns: 40, rows: 10)
            let before = terminal.attributes
            let text = terminal.read()
            func shows(_ wanted: String, after start: Int = 0) async throws {
                try await text.until { $0.dropFirst(start).compactMap(\.self).joined().contains(wanted) }
            }
            let session = Task {
                try await TerminalSession(window, input: terminal.writing, output: terminal.writing).run()
            }
            try await shows("[ add ]")
            #expect(terminal.attributes != before)
            /// Resizes the terminal, waits for the end of the drawing that follows, and returns its lines.
            func lines(columns: UInt16, rows: UInt16, to end: String) async throws -> [String] {
                let start = text.all.count
                terminal.resize(columns: columns, rows: rows)
                try await text.until { Self.drawing(in: $0.dropFirst(start)).contains(end) }
                return Self.lines(of: Self.drawing(in: text.all.dropFirst(start)))
            }
            terminal.type("\r")
            try await shows("added")
            #expect(try await lines(columns: 10, rows: 3, to: "[ add ]\u{1B}[0m") == ["Home", "added", "[ add ]"])
            let whole = try await lines(columns: 40, rows: 10, to: "q quit\u{1B}[0m")
            #expect(whole.prefix(9) == ["Home", "", "added", "[ add ]", "", "", "", "", ""])
            #expect(whole.count == 10 && whole.last?.hasSuffix("q quit") == true)
            terminal.type("q")
            try await session.value
            try await shows("\u{1B}[?1049l")
            #expect(terminal.attributes == before)
        }
    }

    /// Returns what was written to a terminal since it was cleared; empty if it was not.
    private static func drawing(in pieces: some Sequence<String?>) -> String {
        let text = pieces.compactMap(\.self).joined()
        return text.ranges(of: "\u{1B}[2J").last.map { String(text[$0.upperBound...]) } ?? ""
    }

    /// Returns the lines of a drawing without the codes for their appearance.
    private static func lines(of drawing: String) -> [String] {
        var lines: [Int: String] = [:]
        for line in drawing.matches(of: /\u{1B}\[([0-9]+);1H\u{1B}\[2K((?:[^\u{1B}]|\u{1B}\[[0-9;]*m)*)/) {
            lines[Int(line.output.1) ?? 0] = String(line.output.2.replacing(/\u{1B}\[[0-9;]*m/, with: ""))
        }
        return lines.sorted { $0.key < $1.key }.map(\.value)
    }

    @Test(.enabled(if: Ends.hasTerminals), arguments: ["q", nil])
    func `a terminal that has stalled is left`(key: String?) async throws {
        try await AppManager.withWindow(Self.script) { window, _, _ in
            let terminal = try Ends(columns: 40, rows: 10)
            let before = terminal.attributes
            terminal.stall()
            let session = Task {
                try await TerminalSession(window, input: terminal.writing, output: terminal.writing).run()
            }
            if let key { terminal.type(key) } else { session.cancel() }
            try await session.value
            #expect(terminal.attributes == before)
        }
    }

    @Test(.enabled(if: Ends.hasTerminals))
    func `a screen that is stuck is left`() async throws {
        let (script, gate) = Self.stuckScript()
        try await AppManager.withWindow(script) { window, _, _ in
            let terminal = try Ends(columns: 40, rows: 10)
            let text = terminal.read()
            let session = Task {
                try await TerminalSession(window, input: terminal.writing, output: terminal.writing).run()
            }
            try await text.until { $0.compactMap(\.self).joined().contains("[ wait ]") }
            terminal.type("\r")
            try await gate.arrivals()
            terminal.type("q")
            try await session.value
            gate.open()
        }
    }
}

/// The ends of a pipe, or of a terminal whose side of the person is the one that is read.
private final class Ends: Sendable {
    let reading: Int32
    let writing: Int32
    private let closed = Recording<Int32>()
    struct NoFiles: Error {}

    static let hasTerminals: Bool = {
        guard let ends = try? Ends(columns: 80, rows: 24) else { return false }
        return ends.reading >= 0
    }()

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw NoFiles() }
        (reading, writing) = (ends[0], ends[1])
    }

    init(columns: UInt16, rows: UInt16) throws {
        var own: Int32 = -1, other: Int32 = -1
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&own, &other, nil, nil, &size) == 0 else { throw NoFiles() }
        (reading, writing) = (own, other)
    }

    deinit { for end in [reading, writing] { close(end) } }

    /// Reads in a thread what is written to the other end; `nil` is the end.
    func read() -> Recording<String?> {
        let text = Recording<String?>()
        // The end is read as long as the thread runs.
        let end = dup(reading)
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 1 << 12)
            while true {
                let count = Glibc.read(end, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                text.add(String(decoding: buffer[..<count], as: UTF8.self))
            }
            text.add(nil)
            Glibc.close(end)
        }
        return text
    }

    func write(_ text: String) { send(text, to: writing) }

    /// Fills a pipe, so that its other end has to be read before anything can be written.
    func fill() {
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        while Glibc.write(writing, "x", 1) == 1 {}
        _ = fcntl(writing, F_SETFL, 0)
    }

    /// Stops the output of a terminal.
    func stall() { #expect(tcflow(writing, TCOOFF) == 0) }

    /// The number of bytes in a pipe.
    var unread: Int {
        var count: Int32 = 0
        _ = ioctl(reading, UInt(FIONREAD), &count)
        return Int(count)
    }

    /// Types at a terminal.
    func type(_ text: String) { send(text, to: reading) }

    private func send(_ text: String, to end: Int32) {
        let bytes = Array(text.utf8)
        #expect(Glibc.write(end, bytes, bytes.count) == bytes.count)
    }

    func closeWriting() { close(writing) }
    func closeReading() { close(reading) }

    /// Closes an end once.
    private func close(_ end: Int32) {
        guard !closed.all.contains(end) else { return }
        closed.add(end)
        Glibc.close(end)
    }

    /// The settings of a terminal.
    var attributes: [tcflag_t] {
        var attributes = termios()
        tcgetattr(reading, &attributes)
        return [attributes.c_iflag, attributes.c_oflag, attributes.c_lflag]
    }

    /// Changes the size of a terminal, and tells the process, as if the terminal were its own.
    func resize(columns: UInt16, rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(reading, UInt(TIOCSWINSZ), &size)
        kill(getpid(), SIGWINCH)
    }
}
