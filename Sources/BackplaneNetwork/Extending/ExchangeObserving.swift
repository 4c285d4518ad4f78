public import Backplane

/// The contract of a manager that observes exchanges: an observer that a plugin provides.
///
/// The manifest names it under `network.observers`, and the host then notifies it of all exchanges of all components
/// and of the host itself. Exchanges neither wait for an observer nor fail because of it.
///
/// ```swift
/// static func methods(_ table: inout Methods) {
///     table.async(\.observe) { log, batch, _ in for event in batch.events { log.note(event) } }
/// }
/// ```
public struct ExchangeObserving: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// Receives the next events, in order; later events follow once this call has ended.
    public let observe = AsyncMethod<ExchangeEvents, Nothing>()

    /// Creates the contract.
    public init() {}
}

/// The queued events for one observer.
public struct ExchangeEvents: Codable, Sendable {
    /// The events, in the order in which they happened.
    public var events: [ExchangeEvent]
    /// The number of events after these that were dropped because the observer was too slow.
    public var lost: Int

    package init(events: [ExchangeEvent], lost: Int) { (self.events, self.lost) = (events, lost) }
}
