import Foundation
import Glibc
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

/// What the environment says of a service manager.
struct ServiceManagerTests {
    private func manager(_ environment: [String: String]) -> ServiceManager? {
        ServiceManager { environment[$0] }
    }

    @Test func `without a socket there is none`() {
        #expect(manager([:]) == nil)
        #expect(manager(["NOTIFY_SOCKET": "relative/path"]) == nil)
    }

    @Test func `the watchdog's interval is that of this process`() {
        let socket = ["NOTIFY_SOCKET": "/run/some.sock"]
        #expect(manager(socket)?.watchdog == nil)
        let interval = socket.merging(["WATCHDOG_USEC": "1500000"]) { $1 }
        #expect(manager(interval)?.watchdog == .milliseconds(1500))
        #expect(manager(interval.merging(["WATCHDOG_PID": "\(getpid())"]) { $1 })?.watchdog == .milliseconds(1500))
        #expect(manager(interval.merging(["WATCHDOG_PID": "1"]) { $1 })?.watchdog == nil)
        #expect(manager(socket.merging(["WATCHDOG_USEC": "0"]) { $1 })?.watchdog == nil)
    }

    @Test func `a message that nobody takes is lost, and nothing waits`() {
        #expect(manager(["NOTIFY_SOCKET": "/nowhere/some.sock"])?.tell("READY=1") == false)
        #expect(manager(["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)])?.tell("READY=1") == false)
    }
}

/// What SwiftPM prints of a Package.swift that it cannot read.
struct ManifestOutputTests {
    private let command = #"error: 'a': Invalid manifest (compiled with: ["/usr/bin/swiftc", "-o", "/tmp/a-manifest"])"#
    private let end = #"error: invalid manifests at [<AbsolutePath:"/home/ada/a">]"#

    @Test func `the compiler's lines stay as they are, and what SwiftPM did goes`() {
        let said = [
            "/a/Package.swift:1:1: error: no", "1 | oops", "  | `- error: no", "",
            "/a/Package.swift:2:1: error: no more",
        ]
        #expect(
            ManifestOutput.lines(
                of: ["Another instance of SwiftPM (PID: 7) is already running", command, ""] + said + ["", end]) == said
        )
    }

    @Test func `what SwiftPM says itself stays`() {
        let said = "error: 'a': package 'a' is using Swift tools version 9.5.0 but the installed version is 6.3.1"
        #expect(ManifestOutput.lines(of: [said, end]) == [said])
    }

    @Test func `where nothing else is said all of it is`() {
        #expect(ManifestOutput.lines(of: [command, end]) == [command, end])
        #expect(ManifestOutput.lines(of: []) == [])
    }
}
