/// The host's log, under the component's own name.
///
/// Messages are constant texts; what varies goes into the metadata. No secrets in either.
public struct Log: Sendable {
    /// How much a message matters.
    public enum Level: UInt32, Sendable, Hashable, CaseIterable, Comparable {
        case trace = 0, debug, info, notice, warning, error, critical

        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    let isEnabled: @Sendable (Level) -> Bool
    let write: @Sendable (Level, String, [String: String]) -> Void

    /// Writes a message, unless the host leaves out its level: then neither argument is evaluated.
    public func log(_ level: Level, _ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]) {
        if isEnabled(level) { write(level, message(), metadata()) }
    }

    public func trace(_ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]) {
        log(.trace, message(), metadata: metadata())
    }

    public func debug(_ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]) {
        log(.debug, message(), metadata: metadata())
    }

    public func info(_ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]) {
        log(.info, message(), metadata: metadata())
    }

    public func notice(_ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]) {
        log(.notice, message(), metadata: metadata())
    }

    public func warning(_ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]) {
        log(.warning, message(), metadata: metadata())
    }

    public func error(_ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]) {
        log(.error, message(), metadata: metadata())
    }
}
