import Backplane
import BackplaneHost
import BackplaneSwiftLog
import Logging
import Synchronization
import Testing

/// The host's log in swift-log.
@Suite(.timeLimit(.minutes(1)))
struct SwiftLogSinkTests {
    /// A handler that keeps what it is given.
    private struct Handler: LogHandler {
        final class Lines: Sendable {
            private let lines = Mutex<[String]>([])
            func add(_ line: String) { lines.withLock { $0.append(line) } }
            var all: [String] { lines.withLock { $0 } }
        }
        let lines: Lines
        var metadata: Logger.Metadata = [:], logLevel = Logger.Level.info
        var metadataProvider: Logger.MetadataProvider?
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = (event.metadata ?? [:]).merging(metadataProvider?.get() ?? [:]) { own, _ in own }
            let text = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            lines.add("\(event.level) \(event.source): \(event.message) \(text)")
        }
    }

    private func logger(_ lines: Handler.Lines) -> Logger {
        Logger(label: "test") { _ in Handler(lines: lines, metadataProvider: .backplane) }
    }

    @Test func `a record keeps its level, its component and its metadata`() {
        let lines = Handler.Lines(), sink = SwiftLogSink(logger(lines))
        #expect(sink.isEnabled(.info) && !sink.isEnabled(.debug))
        sink.write(LogRecord(level: .warning, source: "Desk", message: "late", metadata: ["trace": "7f"]))
        #expect(lines.all == ["warning Desk: late trace=7f"])
    }

    @Test(arguments: Log.Level.allCases)
    func `each level has its name in swift-log`(level: Log.Level) {
        #expect("\(Logger.Level(level))" == "\(level)")
    }

    @Test func `the program's own messages have the trace of the call that they belong to`() async throws {
        let lines = Handler.Lines(), logger = self.logger(lines)
        let call = PluginHost(manifest: Manifest(managers: [:])).begin(
            traceparent: "00-\(String(repeating: "ab", count: 16))-\(String(repeating: "cd", count: 8))-01")
        let trace = try #require(call.trace?.id)
        await call.withLogging { logger.info("inside", source: "test") }
        logger.info("outside", source: "test")
        #expect(lines.all == ["info test: inside trace=\(trace)", "info test: outside "])
    }
}
