/// The host's log, under the component's own name.
///
/// Messages are constant texts, and variable parts belong in the metadata. Neither may contain secrets.
public struct Log: Sendable {
    /// The severity of a message, in ascending order.
    public enum Level: UInt32, Sendable, Hashable, CaseIterable, Comparable {
        /// The seven levels of swift-log: `trace`, `debug`, `info`, `notice`, `warning`, `error` and `critical`.
        case trace = 0, debug, info, notice, warning, error, critical

        /// Compares severities.
        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    let isEnabled: @Sendable (Level) -> Bool
    let write: @Sendable (Level, String, [String: String]) -> Void

    /// Writes a message unless the host ignores its level, in which case neither argument is evaluated.
    public func log(
        _ level: Level, _ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]
    ) {
        if isEnabled(level) { write(level, message(), metadata()) }
    }

    /// Writes a message at level `trace`.
    public func trace(_ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]) {
        log(.trace, message(), metadata: metadata())
    }

    /// Writes a message at level `debug`.
    public func debug(_ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]) {
        log(.debug, message(), metadata: metadata())
    }

    /// Writes a message at level `info`.
    public func info(_ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]) {
        log(.info, message(), metadata: metadata())
    }

    /// Writes a message at level `notice`.
    public func notice(_ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]) {
        log(.notice, message(), metadata: metadata())
    }

    /// Writes a message at level `warning`.
    public func warning(_ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]) {
        log(.warning, message(), metadata: metadata())
    }

    /// Writes a message at level `error`.
    public func error(_ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:]) {
        log(.error, message(), metadata: metadata())
    }
}
