@testable import BackplaneHost

/// What tests look at inside a host.
extension Coordinator {
    var nodeCounts: (active: Int, known: Int, started: Int, ready: Int) {
        (live.nodes.count, live.nodesByID.count, live.started.count, live.nodes.count { $0.running != nil })
    }
    var numbersInUse: Int { live.numbers.inUse }
    var waitingTurns: Int { turns.waitingCount }
    var hasRetirements: Bool { !stopper.retirementsUnderWay.isEmpty }
    var managerGates: Int { live.managerGates.count }
    var leftBehind: Int { live.leftBehind.count }
    /// Starts the node that a manager has before `body`, although another may have replaced it afterwards.
    func startFormer(_ manager: String, after body: @Sendable () async -> Void) async throws -> RunningComponent {
        let node = live.nodes[try live.loaded.node(ofManager: manager).id]
        await body()
        return try await starter.start(node).get()
    }
}
