import Backplane
import BackplaneScreens

struct Ship: Sendable, Identifiable {
    let id: String, name: String

    static let all = [
        Ship(id: "argo", name: "Argo"), Ship(id: "beagle", name: "Beagle"), Ship(id: "wreck", name: "Wreck"),
    ]
}

/// The screen `harbour.ships`: the ships whose names contain the text of the field `filter`.
actor ShipList<Edition: HarbourEdition>: Screen {
    static var identifier: String { "harbour.ships" }
    private let agent: Agent
    private var filter = ""

    init(_ agent: Agent) { self.agent = agent }

    static func assemble(with input: Nothing, agent: Agent) async throws -> ShipList { ShipList(agent) }

    var title: String { "Ships" }

    var body: [View] {
        Heading("Ships of the \(Edition.word) edition")
        Field("Filter", id: "filter", value: filter, prompt: "A part of a name", content: .search).live()
        List(Ship.all.filter { filter.isEmpty || $0.name.lowercased().contains(filter.lowercased()) }) { ship in
            Link(ship.name, to: ShipPage<Edition>.self, ShipInput(ship: ship.id))
            Button("Visit", id: "visit")
        }
    }

    func handle(_ event: ViewEvent) async throws {
        switch event.id {
        case "filter": filter = event.value
        case "visit": try await agent.performSegue(to: ShipPage<Edition>.self, data: ShipInput(ship: event.row))
        default: break
        }
    }
}

struct ShipInput: Codable, Sendable {
    var ship: String
}

/// The screen `harbour.ship`: the page of the ship that its input names.
final class ShipPage<Edition: HarbourEdition>: Screen {
    static var identifier: String { "harbour.ship" }
    private let ship: Ship, agent: Agent

    init(_ ship: Ship, _ agent: Agent) { (self.ship, self.agent) = (ship, agent) }

    static func assemble(with input: ShipInput, agent: Agent) async throws -> ShipPage {
        guard let ship = Ship.all.first(where: { $0.id == input.ship }) else {
            throw HarbourProblem(message: "the harbour has no ship `\(input.ship)`")
        }
        try Edition.admit(ship.id)
        return ShipPage(ship, agent)
    }

    var title: String { ship.name }

    var body: [View] {
        Heading("\(ship.name) of the \(Edition.word) edition")
        Button("Leave", id: "leave")
    }

    func handle(_ event: ViewEvent) async throws {
        if event.id == "leave" { try await agent.dismiss() }
    }
}

/// The screen `harbour.counter`: it counts presses of its button, and keeps the count across swaps.
actor Counter<Edition: HarbourEdition>: Screen {
    static var identifier: String { "harbour.counter" }
    private(set) var position = 0

    init() {}

    static func assemble(with input: Nothing, agent: Agent) async throws -> Counter { Counter() }

    var body: [View] {
        Heading("Counter of the \(Edition.word) edition")
        Text("Pressed \(position) times")
        Button("Press", id: "press")
    }

    func handle(_ event: ViewEvent) { if event.id == "press" { position += 1 } }

    func resume(at position: Int) { self.position = position }
}

/// The error of a screen that cannot be assembled.
package struct HarbourProblem: ComponentError {
    package let message: String
    package var code: String { "harbour.problem" }

    /// Creates an error with a message.
    package init(message: String) { self.message = message }
}
