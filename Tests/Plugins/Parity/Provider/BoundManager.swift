import Backplane

/// A manager in whose state is a class, so that the state crosses as JSON only.
final class BoundManager: Manager, StatefulComponent {
    final class Cover: Codable, Sendable {
        let colour: String
        init(_ colour: String) { self.colour = colour }
    }
    struct State: Codable { var cover: Cover }
    private let cover = Cover("red")

    init(_ context: Context) {}
    func exportState() -> State { State(cover: cover) }
    func importState(_ state: State) {}
}
