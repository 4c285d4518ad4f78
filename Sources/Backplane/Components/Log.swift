/// The host's log, under the component's own name.
///
/// Messages are constant strings; variable parts belong in the metadata. Neither may contain secrets.
public struct Log: Sendable {
    /// The severity of a message, in ascending order.
    public enum Level: UInt32, Sendable, Hashable, CaseIterable, Comparable {
        /// The seven levels of swift-log: `trace`, `debug`, `info`, `notice`, `warning`, `error` and `critical`.
        case trace = 0, debug, info, notice, warning, error, critical

        /// Compares severities.
        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    let isEnabled: @Sendable (Level) -> Bool
    let write: @Sendable (Level, String, [String: String], Call?) -> Void

    /// Writes a message, unless the host ignores its level; the text and the metadata are then not evaluated.
    ///
    /// - Parameters:
    ///   - level: The severity of the message.
    ///   - message: A constant string.
    ///   - metadata: The variable parts, keyed by name.
    ///   - call: The call that the message is about; the id of its trace is added to the metadata as `trace`.
    public func log(
        _ level: Level, _ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:],
        for call: Call? = nil
    ) {
        if isEnabled(level) { write(level, message(), metadata(), call) }
    }

    /// Writes a message at level `trace`.
    public func trace(
        _ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:], for call: Call? = nil
    ) {
        log(.trace, message(), metadata: metadata(), for: call)
    }

    /// Writes a message at level `debug`.
    public func debug(
        _ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:], for call: Call? = nil
    ) {
        log(.debug, message(), metadata: metadata(), for: call)
    }

    /// Writes a message at level `info`.
    public func info(
        _ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:], for call: Call? = nil
    ) {
        log(.info, message(), metadata: metadata(), for: call)
    }

    /// Writes a message at level `notice`.
    public func notice(
        _ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:], for call: Call? = nil
    ) {
        log(.notice, message(), metadata: metadata(), for: call)
    }

    /// Writes a message at level `warning`.
    public func warning(
        _ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:], for call: Call? = nil
    ) {
        log(.warning, message(), metadata: metadata(), for: call)
    }

    /// Writes a message at level `error`.
    public func error(
        _ message: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:], for call: Call? = nil
    ) {
        log(.error, message(), metadata: metadata(), for: call)
    }
}
