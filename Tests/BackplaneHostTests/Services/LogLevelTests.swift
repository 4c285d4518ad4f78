import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// The levels of a host's log: for everything, and for single components and plugins.
struct LogLevelTests {
    private func record(_ level: Log.Level, _ source: String, of plugin: String? = nil) -> LogRecord {
        LogRecord(level: level, source: source, plugin: plugin, message: "\(source) \(level)")
    }

    @Test func `a component's level precedes its plugin's, and that the standard`() {
        let levels = LogLevels(.notice, exceptions: ["org.a": .debug, "Desk": .error, "host": .warning])
        #expect(levels.lowest(of: "Desk", plugin: "org.a") == .error)
        #expect(levels.lowest(of: "Shelf", plugin: "org.a") == .debug)
        #expect(levels.lowest(of: "Shelf", plugin: "org.b") == .notice)
        #expect(levels.lowest(of: "host") == .warning)
    }

    @Test func `what is below its level reaches no sink, whatever the sink takes`() {
        let sink = TestLog(), log = HostLog(sink, LogLevels(.notice, exceptions: ["org.a": .debug]))
        for level in Log.Level.allCases {
            log.write(record(level, "Desk", of: "org.a"))
            log.write(record(level, "Shelf", of: "org.b"))
            #expect(log.isEnabled(level, for: "Desk", of: "org.a") == (level >= .debug))
            #expect(log.isEnabled(level, for: "Shelf", of: "org.b") == (level >= .notice))
        }
        #expect(sink.records.filter { $0.source == "Desk" }.map(\.level).min() == .debug)
        #expect(sink.records.filter { $0.source == "Shelf" }.map(\.level).min() == .notice)
    }

    @Test func `a change holds at once, in both directions`() {
        let sink = TestLog(), log = HostLog(sink, LogLevels(.error))
        log.write(record(.trace, "Desk"))
        log.levels.exceptions["Desk"] = .trace
        log.write(record(.trace, "Desk"))
        log.write(record(.trace, "Shelf"))
        log.levels = LogLevels(.critical)
        log.write(record(.error, "Desk"))
        #expect(sink.records == [record(.trace, "Desk")])
        #expect(log.firstLevels == LogLevels(.error))
    }
}
