import BackplaneOperations

extension GraphRun {
    /// Waits until a node has come to a state, or has already.
    func reached(_ state: NodeState, _ node: String) async {
        for await event in events where event.name == node && event.state == state { return }
    }

    /// The states of all nodes at the end, by their names.
    var lastStates: [String: NodeState] {
        get async {
            await drained()
            var states: [String: NodeState] = [:]
            for await event in events { states[event.name] = event.state }
            return states
        }
    }
}

struct Unavailable: Error, CustomStringConvertible {
    var description: String { "the shelf is unavailable" }
}
