import Backplane
import Synchronization

/// The log of one host: a sink, behind levels that can be changed while the host runs.
final class HostLog: LogSink {
    private let sink: any LogSink
    /// The levels with which the host was created.
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
