import Backplane

/// The manager of the almanac, which returns a day's events from the network, or the stored ones if the network fails.
final class AlmanacManager: Manager {
    typealias Provides = Almanac
    struct Wires: Wiring {
        let dataAccessController: Wire<AlmanacArchive>
        let communicationController: Wire<AlmanacNetwork>
    }
    private let wires: Wires
    private let log: Log

    init(_ context: Context) {
        (wires, log) = (context.wires, context.log)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.on) { manager, day, call in try await manager.on(day, call) }
        table.stream(\.events) { manager, _, elements, call in
            for event in try await manager.events(call).value { try await elements.send(event) }
        }
    }

    private func on(_ day: String, _ call: Call) async throws -> Sourced<[Event]> {
        guard day.isDay else { throw Almanac.Failure(text: day) }
        let events = try await events(call)
        return Sourced(events.value.filter { $0.day == day }, from: events.source)
    }

    /// Returns all events in the order of days and years.
    private func events(_ call: Call) async throws -> Sourced<[Event]> {
        let events = try await Sourced.networkFirst(call, log: log) { call in
            try await wires.communicationController.all(call)
        } keep: { events in
            _ = try await wires.dataAccessController.keep(events, call)
        } kept: {
            try await wires.dataAccessController.kept(call)
        }
        return Sourced(events.value.sorted { ($0.day, $0.year) < ($1.day, $1.year) }, from: events.source)
    }
}

extension String {
    fileprivate var isDay: Bool {
        let parts = split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isNumber) }),
            let month = Int(parts[0]), let day = Int(parts[1])
        else { return false }
        let lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return lengths.indices.contains(month - 1) && (1...lengths[month - 1]).contains(day)
    }
}
