import Backplane

/// The communication controller of the almanac, which fetches all events through its only network service.
final class AlmanacCommunication: CommunicationController {
    typealias Provides = AlmanacNetwork
    struct Wires: Wiring {
        let feed: Wire<EventFeed>
    }
    private let wires: Wires

    init(_ context: Context) {
        wires = context.wires
    }

    static func methods(_ table: inout Methods) {
        table.async(\.all) { controller, _, call in try await controller.wires.feed.events(call) }
    }
}
