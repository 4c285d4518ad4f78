import Backplane

/// The events of the host.
extension Coordinator {
    /// Makes a change, and reports its outcome to the listeners.
    ///
    /// - Parameter event: The event for a change that has been made; `nil` if nothing was changed.
    func announcing<Result: Sendable>(
        _ operation: HostEvent.Operation, _ change: @Sendable () async throws(BackplaneError) -> Result,
        _ event: @Sendable (Result) async -> HostEvent.Kind?
    ) async throws(BackplaneError) -> Result {
        // Wires that were connected since the last time.
        lanes.merge(lanesNow.mapValues { $0.lane.name }) { known, _ in known }
        defer { announceLanes() }
        do throws(BackplaneError) {
            let result = try await change()
            if let event = await event(result) { events.send(event) }
            return result
        } catch {
            events.send(.failed(operation: operation, error: error.shown))
            throw error
        }
    }

    /// The names of the running managers, in sorted order.
    var managersUp: [String] {
        live.statuses.filter { $0.state == .ready }.map(\.name).sorted()
    }

    /// Announces the wires whose lanes have changed since the last announcement.
    private func announceLanes() {
        let now = lanesNow
        for (key, wire) in now {
            guard let before = lanes[key], before != wire.lane.name else { continue }
            events.send(
                .laneChanged(
                    wire: WireChange(
                        user: wire.user, label: wire.label, provider: wire.provider, contract: wire.contract,
                        fromLane: before, toLane: wire.lane.name, reason: wire.lane.reason)))
        }
        lanes = now.mapValues { $0.lane.name }
    }

    private var lanesNow: [WireKey: WireStatus] {
        Dictionary(
            live.connections.statuses.map { wire in
                (WireKey(user: wire.user, label: wire.label, provider: wire.provider, contract: wire.contract), wire)
            }, uniquingKeysWith: { first, _ in first })
    }
}

/// The wire of a component, or of the host program.
struct WireKey: Hashable {
    var user: String?
    var label, provider, contract: String
}
