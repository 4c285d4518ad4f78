import Backplane
import CBackplane

/// The functions of `backplane.log/1`.
let logFunctions = bp_log_1(
    size: UInt32(MemoryLayout<bp_log_1>.size), reserved: 0,
    is_enabled: { handle, level in
        guard let level = Log.Level(rawValue: level), let component = ComponentHandles.find(handle) else { return 0 }
        return component.log.isEnabled(level, for: component.name, of: component.plugin) ? 1 : 0
    },
    write: { handle, level, message, metadata, count in
        write(handle, nil, level, message, metadata, count)
    },
    write_for_call: { handle, frame, level, message, metadata, count in
        write(handle, Call(copying: frame).trace, level, message, metadata, count)
    })

private func write(
    _ handle: UInt64, _ trace: Trace?, _ level: UInt32, _ message: bp_bytes, _ metadata: UnsafePointer<bp_pair>?,
    _ count: Int
) {
    guard let component = ComponentHandles.find(handle) else { return }
    let pairs = Pairs.copy(metadata, count: min(count, 64)).map { ($0.name, $0.value) }
    var record = LogRecord(
        level: Log.Level(rawValue: level) ?? .info, source: component.name, plugin: component.plugin,
        message: message.text,
        metadata: Dictionary(pairs, uniquingKeysWith: { _, last in last }))
    if let trace { record.metadata["trace"] = trace.id }
    component.log.write(record)
}
