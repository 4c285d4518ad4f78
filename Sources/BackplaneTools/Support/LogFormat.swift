package import Backplane
import BackplaneDocuments
package import BackplaneHost
import FoundationEssentials

/// The format of a log in which each record is one line.
package enum LogFormat: String, CaseIterable, Sendable {
    /// The time, level, component and trace, followed by the message and its metadata.
    case text
    /// One JSON object with the same members, for programs.
    case json

    package static let names = allCases.map(\.rawValue).joined(separator: " or ")

    /// Returns a record as a line without its line ending.
    ///
    /// - Parameter seconds: The time of the record, in seconds since 1970.
    package func line(_ record: LogRecord, at seconds: Double) -> String {
        let time = Date(timeIntervalSince1970: seconds).formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        return self == .json ? Self.object(record, time) : Self.text(record, time)
    }

    private static func text(_ record: LogRecord, _ time: String) -> String {
        let trace = record.trace.map { " [\($0.printable)]" } ?? ""
        let metadata = record.furtherMetadata.map { " \($0.key.printable)=\($0.value.logWord)" }.joined()
        return
            "\(time) \(record.level) \(record.source.printable)\(trace): \(record.message.printable)\(metadata)"
    }

    private static func object(_ record: LogRecord, _ time: String) -> String {
        func json(_ text: String) -> String { String(decoding: text.json, as: UTF8.self) }
        let own: [(String, String?)] = [
            ("time", time), ("level", "\(record.level)"), ("component", record.source), ("plugin", record.plugin),
            ("trace", record.trace), ("message", record.message),
        ]
        var members = own.compactMap { name, value in value.map { "\"\(name)\":\(json($0))" } }
        let metadata = record.furtherMetadata.map { "\(json($0.key)):\(json($0.value))" }
        if !metadata.isEmpty { members.append("\"metadata\":{\(metadata.joined(separator: ","))}") }
        return "{\(members.joined(separator: ","))}"
    }
}

extension LogRecord {
    /// The metadata besides the trace, sorted by name.
    fileprivate var furtherMetadata: [(key: String, value: String)] {
        metadata.filter { $0.key != "trace" }.sorted { $0.key < $1.key }
    }
}

extension String {
    /// The text as one word of a line, in quotation marks if it would otherwise be several words or none.
    fileprivate var logWord: String {
        let text = printable
        guard isEmpty || contains(where: { $0 == " " || $0 == "\"" || $0 == "=" }) else { return text }
        return "\"\(text.replacing("\"", with: "\\\""))\""
    }
}

/// A log sink without dependencies that writes one line for each record to standard error.
package struct StandardErrorLog: LogSink {
    package var level: Log.Level
    package var format: LogFormat

    /// Creates the sink; the host applies the levels of individual components.
    package init(level: Log.Level = .trace, format: LogFormat = .text) { (self.level, self.format) = (level, format) }

    package func isEnabled(_ level: Log.Level) -> Bool { level >= self.level }

    package func write(_ record: LogRecord) {
        if isEnabled(record.level) { Output.remark(format.line(record, at: Date().timeIntervalSince1970)) }
    }
}
