import Backplane

/// The effect of a swap on the active plan, decided in advance from two plans of one manifest.
struct SwapPlan {
    /// A component whose instance is replaced, or created because another member calls it.
    struct Member {
        /// The component's place in the active plan if it is up, or `nil` if it has no predecessor.
        var old: Int?
        /// The component's place in the next plan.
        var new: Int
        /// A Boolean value that indicates whether the code is the same as before.
        var isRestart = false
        var isGated: Bool
        var state: StateTransfer
    }
    /// The members in order of creation.
    private(set) var members: [Member] = []
    /// The new places of the nodes that stay as they are, by old place.
    private(set) var kept: [Int: Int] = [:]
    /// The old places of the nodes that stay as they are, by new place.
    private(set) var stays: [Int: Int] = [:]
    /// The old places of kept nodes that are not up and that a member calls.
    private(set) var awaited: [Int] = []
    /// The reasons for refusing the swap.
    private(set) var refusals: [BackplaneError] = []

    /// The facts about the running host that the plan depends on.
    struct Running {
        /// The places of the nodes that are up.
        var up: Set<Int>
        /// The places of the managers that each node which is up has looked up.
        var found: [Int: Set<Int>] = [:]
    }

    /// Plans a swap.
    ///
    /// - Parameters:
    ///   - discardsState: A Boolean value that indicates whether state that cannot be carried over is discarded, rather
    ///     than a reason for refusal.
    ///   - isSame: A function that returns whether two entries are the same class of the same loaded library.
    init(
        from old: Plan, to new: Plan, _ running: Running, discardsState: Bool,
        isSame: (Catalogue.Entry, Catalogue.Entry) -> Bool
    ) {
        let counterparts = Dictionary(old.nodes.map { ($0.location, $0.id) }, uniquingKeysWith: { first, _ in first })
        let before = new.nodes.map { counterparts[$0.location] }
        var changed = Set(
            new.nodes.filter { node in !(before[node.id].map { isSame(old.nodes[$0].entry, node.entry) } ?? false) }
                .map(\.id))
        let restarted = Self.restarted(in: new, before, &changed, running)
        // A member may start a node that is not up; the node then comes from the new code, as does everything it calls.
        for node in new.nodes where !changed.contains(node.id) && !(before[node.id].map(running.up.contains) ?? false) {
            if (node.wires.map(\.provider) + new.layers(of: node).map(\.id)).contains(where: changed.contains) {
                changed.insert(node.id)
            }
        }
        for node in new.nodes where !changed.contains(node.id) {
            stays[node.id] = before[node.id]
            kept[before[node.id]!] = node.id
        }

        let needed = Self.needed(in: new, before, changed, running.up)
        for place in needed.sorted() {
            if !changed.contains(place) {
                if let old = before[place], !running.up.contains(old) { awaited.append(old) }
                continue
            }
            let node = new.nodes[place], predecessor = before[place].flatMap { running.up.contains($0) ? $0 : nil }
            let was = predecessor.map { old.nodes[$0].entry.component }
            let transfer = StateTransfer(from: was?.state, to: node.entry.component.state)
            if case .impossible(let reason, _) = transfer, !discardsState {
                refusals.append(
                    BackplaneError(
                        .stateIncompatible,
                        "the state of \(node.name) cannot be carried over: \(reason); give the new code a migration, or discard the state",
                        at: node.location))
            }
            let isGated =
                was?.state != nil || was?.isExclusive == true || predecessor != nil && node.entry.component.isExclusive
            members.append(
                Member(
                    old: predecessor, new: place, isRestart: restarted.contains(place), isGated: isGated,
                    state: transfer))
        }
        compareWhatStays(old, new, before, running)
    }

    /// Returns the unchanged nodes that restart since a node they call is swapped, and adds them to the changed ones.
    private static func restarted(in plan: Plan, _ before: [Int?], _ changed: inout Set<Int>, _ running: Running)
        -> Set<Int>
    {
        var restarted: Set<Int> = []
        let candidates = plan.nodes.filter { node in
            node.entry.component.restartsOnSwap && !changed.contains(node.id)
                && before[node.id].map(running.up.contains) ?? false
        }
        let called = candidates.map { node in
            node.wires.map(\.provider)
                + plan.nodes.lazy.map(\.id).filter { other in
                    before[other].map { running.found[before[node.id]!]?.contains($0) ?? false } ?? false
                }
        }
        // A restarting node may cause its users to restart; look-ups can put those anywhere in the order of creation.
        while let next = candidates.indices.first(where: {
            !changed.contains(candidates[$0].id) && called[$0].contains(where: changed.contains)
        }) {
            changed.insert(candidates[next].id)
            restarted.insert(candidates[next].id)
        }
        return restarted
    }

    /// Returns the changed nodes that are up, and everything that they call.
    private static func needed(in plan: Plan, _ before: [Int?], _ changed: Set<Int>, _ up: Set<Int>) -> Set<Int> {
        var needed: Set<Int> = []
        var waiting = changed.filter { before[$0].map(up.contains) ?? false }
        while let place = waiting.popFirst() {
            guard needed.insert(place).inserted, changed.contains(place) else { continue }
            waiting.formUnion(plan.nodes[place].wires.map(\.provider))
            waiting.formUnion(plan.layers(of: plan.nodes[place]).map(\.id))
        }
        return needed
    }

    /// Refuses the swap if a component that stays would lose its place in the manifest or call others than now.
    private mutating func compareWhatStays(_ old: Plan, _ new: Plan, _ before: [Int?], _ running: Running) {
        let places = Set(new.nodes.map(\.location))
        for node in old.nodes where running.up.contains(node.id) && !places.contains(node.location) {
            refuse(
                "with the new code, \(node.name), which is up, would have no place in the manifest", at: node.location)
        }
        for (place, next) in kept where running.up.contains(place) {
            let was = old.nodes[place].wires, becomes = new.nodes[next].wires
            let isSame =
                was.count == becomes.count
                && zip(was, becomes).allSatisfy { was, becomes in
                    was.label == becomes.label && before[becomes.provider] == was.provider
                }
            if !isSame {
                refuse(
                    "with the new code, \(old.nodes[place].name), which does not change, would call other components than now",
                    at: old.nodes[place].location)
            }
        }
    }

    private mutating func refuse(_ reason: String, at location: String) {
        refusals.append(BackplaneError(.swapRefused, "\(reason); stop it, or apply the manifest again", at: location))
    }
}
