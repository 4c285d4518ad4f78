public import Backplane

/// An occurrence in a host, as reported by ``PluginHost/events``.
public struct HostEvent: Sendable, Hashable {
    /// The occurrence that an event reports, with its details.
    public enum Kind: Codable, Sendable, Hashable {
        /// The host has started, and these managers are running.
        case started(managers: [String])
        /// A swap or a rollback has ended; a report with the outcome `rolledBack` represents a failed probation.
        case swapped(report: SwapReport)
        /// Another manifest is active.
        case applied(change: ManifestChange)
        /// Components were recreated.
        case reset(change: ManifestChange)
        /// A change was refused or has failed; the error states whether anything has changed.
        case failed(operation: Operation, error: BackplaneError)
        /// The calls through a wire use another lane than before.
        case laneChanged(wire: WireChange)
        /// The listener missed this number of events at this point because it was too slow.
        case missed(count: Int)
    }
    /// The changes that can fail.
    public enum Operation: String, Codable, Sendable, Hashable, CaseIterable {
        /// The loading of libraries and the start of eager managers.
        case start
        /// The activation of new builds.
        case swap
        /// The return to an older generation.
        case rollback
        /// The activation of another manifest.
        case apply
        /// The recreation of components.
        case reset
    }
    /// The time of the event, in seconds since 1970.
    public var time: Double
    /// The event itself.
    public var kind: Kind

    package init(time: Double, _ kind: Kind) { (self.time, self.kind) = (time, kind) }
}

extension HostEvent: Codable {
    private enum CodingKeys: CodingKey { case time }

    /// Decodes the time and the event itself, which is an object under its name, next to the time.
    public init(from decoder: any Decoder) throws {
        time = try decoder.container(keyedBy: CodingKeys.self).decode(Double.self, forKey: .time)
        kind = try Kind(from: decoder)
    }

    /// Encodes an object such as `{"time": 1.5, "missed": {"count": 7}}`.
    public func encode(to encoder: any Encoder) throws {
        try kind.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
    }
}
