public import Backplane

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
