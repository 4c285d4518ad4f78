public import Backplane
import Synchronization

/// The log of one host: a sink, behind levels that can be changed while the host runs.
final class HostLog: LogSink {
    private let sink: any LogSink
    let firstLevels: LogLevels
    private let state: Mutex<LogLevels>
    /// The lowest of all levels, with which most records are rejected without taking the lock.
    private let lowest: Atomic<UInt32>

    init(_ sink: any LogSink, _ levels: LogLevels) {
        (self.sink, firstLevels) = (sink, levels)
        state = Mutex(levels)
        lowest = Atomic(levels.lowestOfAll.rawValue)
    }

    var levels: LogLevels {
        get { state.withLock(\.self) }
        set { change { $0 = newValue } }
    }

    func change(_ body: (inout LogLevels) -> Void) {
        state.withLock { levels in
            body(&levels)
            lowest.store(levels.lowestOfAll.rawValue, ordering: .relaxed)
        }
    }

    func isEnabled(_ level: Log.Level) -> Bool { isEnabled(level, for: "host", of: nil) }

    func isEnabled(_ level: Log.Level, for source: String, of plugin: String?) -> Bool {
        passes(level, source, plugin) && sink.isEnabled(level, for: source, of: plugin)
    }

    func write(_ record: LogRecord) {
        if passes(record.level, record.source, record.plugin) { sink.write(record) }
    }

    private func passes(_ level: Log.Level, _ source: String, _ plugin: String?) -> Bool {
        level.rawValue >= lowest.load(ordering: .relaxed)
            && level >= state.withLock { $0.lowest(of: source, plugin: plugin) }
    }
}

/// The lowest levels that a host logs: one for everything, and others for individual components and plugins.
///
/// ```swift
/// var options = HostOptions(log: sink)
/// options.logLevels = LogLevels(.notice, exceptions: ["org.example.desk": .debug, "host": .warning])
/// ```
public struct LogLevels: Codable, Sendable, Hashable {
    /// The lowest level for sources without a level of their own.
    public var standard: Log.Level
    /// The lowest levels by component name, plugin id or `host`; a component's level takes precedence over its
    /// plugin's.
    public var exceptions: [String: Log.Level]

    /// Creates levels; without arguments, everything is passed to the sink.
    public init(_ standard: Log.Level = .trace, exceptions: [String: Log.Level] = [:]) {
        (self.standard, self.exceptions) = (standard, exceptions)
    }

    /// Returns the lowest level of a source.
    ///
    /// - Parameters:
    ///   - source: The name of a component, or `host`.
    ///   - plugin: The id of the component's plugin.
    public func lowest(of source: String, plugin: String? = nil) -> Log.Level {
        exceptions[source] ?? plugin.flatMap { exceptions[$0] } ?? standard
    }

    /// The lowest of all levels.
    var lowestOfAll: Log.Level { exceptions.values.reduce(standard, min) }
}

/// A destination for the log of the host and its components, such as swift-log or a test's array.
public protocol LogSink: Sendable {
    /// Returns whether records of a level are written.
    func isEnabled(_ level: Log.Level) -> Bool
    /// Returns whether one source's records of a level are written; by default, the same as for all sources.
    ///
    /// - Parameters:
    ///   - level: The level of the record.
    ///   - source: The name of a component, or `host`.
    ///   - plugin: The id of the component's plugin; `nil` for the host.
    func isEnabled(_ level: Log.Level, for source: String, of plugin: String?) -> Bool
    /// Writes one record.
    ///
    /// The host does not call ``isEnabled(_:)`` before every record, so a sink with levels of its own must also check
    /// them here.
    func write(_ record: LogRecord)
}

extension LogSink {
    /// Returns whether records of a level are written, regardless of their source.
    public func isEnabled(_ level: Log.Level, for source: String, of plugin: String?) -> Bool { isEnabled(level) }

    /// Writes a message of the host, if messages of its level are written.
    func report(_ level: Log.Level, _ message: String, _ metadata: @autoclosure () -> [String: String] = [:]) {
        guard isEnabled(level) else { return }
        write(LogRecord(level: level, source: "host", message: message, metadata: metadata()))
    }
}

/// One entry of the log.
public struct LogRecord: Sendable, Hashable {
    /// The severity, by which a sink selects the records to write.
    public var level: Log.Level
    /// The name of the component that wrote the record, or `host`.
    public var source: String
    /// The id of the component's plugin; `nil` for records of the host.
    public var plugin: String?
    /// The text of the record.
    public var message: String
    /// Additional values that belong to the record, keyed by name.
    public var metadata: [String: String]

    /// Creates an entry, as the host does for its own messages and those of components.
    public init(
        level: Log.Level, source: String, plugin: String? = nil, message: String, metadata: [String: String] = [:]
    ) {
        (self.level, self.source, self.plugin) = (level, source, plugin)
        (self.message, self.metadata) = (message, metadata)
    }

    /// The id of the trace of the call that the record is about; `nil` if the component named no call.
    public var trace: String? { metadata["trace"] }
}

/// A log sink that discards all records.
public struct SilentLog: LogSink {
    /// Creates the sink.
    public init() {}
    /// Returns `false` for all levels.
    public func isEnabled(_ level: Log.Level) -> Bool { false }
    /// Discards the record.
    public func write(_ record: LogRecord) {}
}
