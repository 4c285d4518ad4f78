import Backplane
import BackplaneHost
import BackplaneTools
import Foundation
import Glibc
import TestFixtures
import Testing

@testable import BackplaneCommand
@testable import BackplaneTools

/// Output that does not arrive.
@Suite(.timeLimit(.minutes(5)))
struct LostOutputTests {
    private func run(_ arguments: [String], to output: FileHandle) throws -> (status: Int32, errors: String) {
        let process = Process(), errors = Pipe()
        process.executableURL = URL(filePath: BuiltProducts.folder + "/backplane")
        process.arguments = arguments
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, output, errors)
        try process.run()
        let said = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (
            process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
            String(decoding: said, as: UTF8.self)
        )
    }

    @Test(arguments: [["check", Tool.almanac, "--json"], ["call", Tool.almanac, "ClockManager", "now"]])
    func `a full disk is no success, and is said once`(arguments: [String]) throws {
        let full = try FileHandle(forWritingTo: URL(filePath: "/dev/full"))
        let outcome = try run(arguments, to: full)
        #expect(outcome.status == 1)
        // Without the warnings of a busy machine.
        let errors = outcome.errors.split(separator: "\n").filter { !$0.contains("Swift's thread pool is ") }
        #expect(errors == ["backplane: the output cannot be written: No space left on device"])
    }

    @Test(arguments: [
        ["graph", Tool.almanac], ["check", Tool.almanac, "--json"],
        ["validate", BuiltProducts.folder + "/libClock.so"],
    ])
    func `a reader that has gone away is no failure`(arguments: [String]) throws {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let outcome = try run(arguments, to: pipe.fileHandleForWriting)
        #expect(outcome.status == 0 && outcome.errors == "")
    }

    @Test func `output to a slow reader arrives completely`() throws {
        let pipe = Pipe(), writer = pipe.fileHandleForWriting
        let descriptor = writer.fileDescriptor
        #expect(fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        Thread.detachNewThread {
            Output.write(bytes: bytes, to: descriptor)
            try? writer.close()
        }
        #expect(try pipe.fileHandleForReading.readToEnd().map(Array.init) == bytes)
    }
}

/// The log as a team reads it: one line for each record.
struct LogFormatTests {
    private let time = 1_764_107_045.25

    private func text(_ message: String, _ metadata: [String: String] = [:]) -> String {
        LogFormat.text.line(
            LogRecord(level: .warning, source: "Desk", plugin: "org.a", message: message, metadata: metadata), at: time)
    }

    @Test func `time, level, component and trace come first, then the message, then the metadata`() {
        #expect(text("no reply") == "2025-11-25T21:44:05.250Z warning Desk: no reply")
        let metadata = ["url": "http://a.test", "trace": "4bf92f3577b34da6a3ce929d0e0e4736", "after": "3 s"]
        #expect(
            text("no reply", metadata)
                == "2025-11-25T21:44:05.250Z warning Desk [4bf92f3577b34da6a3ce929d0e0e4736]: no reply after=\"3 s\" url=http://a.test"
        )
    }

    @Test func `a record is one line, whatever is in it, and no value reads as another`() {
        let line = text("a\nb", ["k\n": "v\r\nerror Desk: forged", "empty": "", "quoted": "say \"no\"", "pair": "a=b"])
        #expect(!line.contains { $0.isNewline })
        #expect(line.contains("empty=\"\"") && line.contains("pair=\"a=b\""))
        #expect(line.contains(#"quoted="say \"no\"""#), "\(line)")
    }

    @Test func `as JSON it has the same, for programs`() throws {
        struct Line: Decodable, Equatable {
            var time, level, component, message: String
            var plugin, trace: String?
            var metadata: [String: String]?
        }
        func line(_ record: LogRecord) throws -> Line {
            let text = LogFormat.json.line(record, at: time)
            #expect(!text.contains("\n"))
            return try JSONDecoder().decode(Line.self, from: Data(text.utf8))
        }
        #expect(
            try line(LogRecord(level: .debug, source: "host", message: "up\n\"now\""))
                == Line(time: "2025-11-25T21:44:05.250Z", level: "debug", component: "host", message: "up\n\"now\""))
        #expect(
            try line(
                LogRecord(
                    level: .error, source: "Desk", plugin: "org.a", message: "no", metadata: ["trace": "7", "a": "b"]))
                == Line(
                    time: "2025-11-25T21:44:05.250Z", level: "error", component: "Desk", message: "no", plugin: "org.a",
                    trace: "7", metadata: ["a": "b"]))
    }
}
