import Backplane
import BackplaneHost
import BackplaneTools
import Foundation
import Testing

@testable import BackplaneCommand

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
