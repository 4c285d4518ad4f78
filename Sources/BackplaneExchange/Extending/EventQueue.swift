package import BackplaneNetwork

/// A bounded queue of events for a slow observer, with only the latest progress of each exchange.
package struct EventQueue: Sendable {
    /// The maximum number of queued events; additional ones are dropped and counted.
    static let most = 1_000
    private var events: [ExchangeEvent] = []
    /// The indices of the latest progress events, by exchange.
    private var progress: [UInt64: Int] = [:]
    private var lost = 0

    package init() {}

    package mutating func add(_ event: ExchangeEvent) {
        let isProgress = event.stage == .progress
        if isProgress, let place = progress[event.exchange] {
            events[place] = event
            return
        }
        guard events.count < Self.most else { return lost += 1 }
        progress[event.exchange] = isProgress ? events.count : nil
        events.append(event)
    }

    /// Removes and returns all queued events; returns `nil` if there are none.
    package mutating func take() -> ExchangeEvents? {
        guard !events.isEmpty else { return nil }
        defer { self = EventQueue() }
        return ExchangeEvents(events: events, lost: lost)
    }
}
