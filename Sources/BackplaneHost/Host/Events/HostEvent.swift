public import Backplane

/// An occurrence in a host, as reported by ``PluginHost/events``.
public struct HostEvent: Sendable, Hashable {
    /// The occurrence that an event reports, with its details.
    public enum Kind: Sendable, Hashable {
        /// The host has started, and these managers are running.
        case started(managers: [String])
        /// A swap or a rollback has ended; a report with the outcome `rolledBack` represents a failed probation.
        case swapped(SwapReport)
        /// Another manifest is active.
        case applied(ManifestChange)
        /// Components were recreated.
        case reset(ManifestChange)
        /// A change was refused or has failed; the error states whether anything has changed.
        case failed(Operation, BackplaneError)
        /// The calls through a wire use another lane than before.
        case laneChanged(WireChange)
        /// The listener missed this number of events at this point because it was too slow.
        case missed(Int)
    }
    /// The changes that can fail.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
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
