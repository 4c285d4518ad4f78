import Backplane

/// The effect of a swap on the active plan, decided in advance from that plan and the next one.
///
/// Both come from one manifest with different code, or from two manifests.
struct ChangePlan {
    /// A component whose instance is replaced, created or removed.
    struct Member {
        /// The component's position in the active plan if it is running, or `nil` if it has no predecessor.
        var old: Int?
        /// The component's position in the next plan, or `nil` if it has none.
        var new: Int?
        /// The position in the active plan of the definition that the component's own continues, even if it is not
        /// running.
        var former: Int?
        /// A Boolean value that indicates whether the code is unchanged.
        var isRestart = false
        var isGated: Bool
        var state: StateTransfer
    }
    /// The members in order of creation; a removed member precedes those that were created after it.
    private(set) var members: [Member] = []
    /// The new positions of the nodes that stay unchanged, keyed by old position.
    private(set) var kept: [Int: Int] = [:]
    /// The old positions of the nodes that stay unchanged, keyed by new position.
    private(set) var stays: [Int: Int] = [:]
    /// The old positions of kept nodes that are reconfigured, in the order of creation.
    private(set) var reconfigured: [Int] = []
    /// The old positions of kept nodes that are not running and that a member calls.
    private(set) var awaited: [Int] = []
    /// The reasons for refusing the swap.
    private(set) var refusals: [BackplaneError] = []
    /// The states that the swap discards, as sentences without a full stop.
    private(set) var losses: [String] = []
    /// The nodes that continue others, including those that are not running.
    let succession: Succession

    /// The facts about the running host on which the plan depends.
    struct Running {
        /// The places of the running nodes.
        var up: Set<Int>
        /// The positions of the managers that each running node has looked up.
        var found: [Int: Set<Int>] = [:]
        /// The names of the managers that should be running after the swap if the active plan does not have them.
        var wanted: Set<String> = []
    }

    /// Plans a swap.
    ///
    /// - Parameters:
    ///   - discardsState: A Boolean value that indicates whether state that cannot be carried over is discarded,
    ///     instead of the swap being refused.
    ///   - isReconfigurable: A function that returns whether instances of an entry accept another configuration.
    ///   - isSame: A function that returns whether two entries are the same class of the same loaded library.
    init(
        from old: Plan, to new: Plan, _ running: Running, discardsState: Bool,
        isReconfigurable: (Catalogue.Entry) -> Bool = { _ in false },
        isSame: (Catalogue.Entry, Catalogue.Entry) -> Bool
    ) {
        succession = Succession(from: old, to: new)
        let before = succession.before
        var changed: Set<Int> = [], sameCode: Set<Int> = []
        for node in new.nodes {
            let was = before[node.id].map { old.nodes[$0] }
            guard let was, isSame(was.entry, node.entry) else {
                changed.insert(node.id)
                continue
            }
            let isReconfigured = was.configuration != node.configuration
            if was.continues(as: node, before), !isReconfigured || isReconfigurable(node.entry) {
                if isReconfigured { reconfigured.append(was.id) }
            } else {
                changed.insert(node.id)
                sameCode.insert(node.id)
            }
        }
        sameCode.formUnion(Self.restarted(in: new, before, &changed, running))
        // A member may start a node that is not up; the node then comes from the new code, as does everything it calls.
        for node in new.nodes where !changed.contains(node.id) && !(before[node.id].map(running.up.contains) ?? false) {
            if (node.wires.map(\.provider) + new.layers(of: node).map(\.id)).contains(where: changed.contains) {
                changed.insert(node.id)
            }
        }
        for node in new.nodes where !changed.contains(node.id) {
            guard let place = before[node.id] else { continue }
            stays[node.id] = place
            kept[place] = node.id
        }
        reconfigured.removeAll { kept[$0] == nil }

        let removed = removable(old, new, running)
        let releasesResources = removed.contains { $0.entry.component.isExclusive }
        let needed = Self.needed(in: new, before, changed, running)
        for place in needed.sorted() {
            if !changed.contains(place) {
                if let old = before[place], !running.up.contains(old) { awaited.append(old) }
                continue
            }
            let node = new.nodes[place], predecessor = before[place].flatMap { running.up.contains($0) ? $0 : nil }
            let was = predecessor.map { old.nodes[$0].entry.component }
            let transfer = StateTransfer(from: was?.state, to: node.entry.component.state)
            if case .impossible(let reason, _) = transfer {
                lose(
                    "the state of \(node.name) cannot be carried over: \(reason)",
                    "give the new code a migration, or discard the state", at: node.location, discardsState)
            }
            let isExclusive = node.entry.component.isExclusive
            let isGated =
                was?.state != nil || was?.isExclusive == true
                || isExclusive && (predecessor != nil || before[place] == nil && releasesResources)
            members.append(
                Member(
                    old: predecessor, new: place, former: before[place],
                    isRestart: sameCode.contains(place) && predecessor != nil, isGated: isGated, state: transfer))
        }
        remove(removed, discardsState)
    }

    /// Returns the unchanged nodes that restart because a node that they call is swapped, and adds them to the changed
    /// ones.
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
        // A restarting node may cause its users to restart; lookups can put those anywhere in the order of creation.
        while let next = candidates.indices.first(where: {
            !changed.contains(candidates[$0].id) && called[$0].contains(where: changed.contains)
        }) {
            changed.insert(candidates[next].id)
            restarted.insert(candidates[next].id)
        }
        return restarted
    }

    /// Returns the changed nodes that are running, those that are to start, and everything that they call.
    private static func needed(in plan: Plan, _ before: [Int?], _ changed: Set<Int>, _ running: Running) -> Set<Int> {
        func isUp(_ place: Int) -> Bool { before[place].map(running.up.contains) ?? false }
        var needed: Set<Int> = []
        var waiting = changed.filter(isUp)
        for node in plan.nodes where before[node.id] == nil {
            if node.role == .manager {
                if running.wanted.contains(node.name) { waiting.insert(node.id) }
            } else if node.managers.contains(where: { plan.managers[$0].map(isUp) ?? false }) {
                waiting.insert(node.id)
            }
        }
        while let place = waiting.popFirst() {
            guard needed.insert(place).inserted, changed.contains(place) else { continue }
            waiting.formUnion(plan.nodes[place].wires.map(\.provider))
            waiting.formUnion(plan.layers(of: plan.nodes[place]).map(\.id))
        }
        return needed
    }

    /// Returns the running nodes that no longer have a place, and refuses those that have errors with the new code.
    private mutating func removable(_ old: Plan, _ new: Plan, _ running: Running) -> [Plan.Node] {
        old.nodes.filter { node in
            guard running.up.contains(node.id), succession.after[node.id] == nil else { return false }
            guard node.managers.contains(where: { new.faults[$0] != nil }) else { return true }
            refusals.append(
                BackplaneError(
                    .swapRefused,
                    "\(node.name) is running, but would have no place in the manifest with the new code; stop it, or apply the manifest again",
                    at: node.location))
            return false
        }
    }

    private mutating func remove(_ nodes: [Plan.Node], _ discardsState: Bool) {
        for node in nodes {
            let component = node.entry.component
            let transfer: StateTransfer =
                if let state = component.state { .impossible("the manifest no longer has it", state) } else { .none }
            if component.state != nil {
                let advice =
                    node.wasAdvice.map { "write \($0) where another continues it, or discard the state" }
                    ?? "keep it, or discard the state"
                lose(
                    "the state of \(node.name) has no successor in the manifest", advice, at: node.location,
                    discardsState)
            }
            let member = Member(
                old: node.id, former: node.id, isGated: component.state != nil || component.isExclusive, state: transfer
            )
            let index = members.firstIndex { ($0.old ?? -1) > node.id } ?? members.endIndex
            members.insert(member, at: index)
        }
    }

    /// Refuses the swap because state would be lost, or records the loss if it is intended.
    private mutating func lose(_ state: String, _ advice: String, at location: String, _ discardsState: Bool) {
        if discardsState {
            losses.append(state)
        } else {
            refusals.append(
                BackplaneError(.stateIncompatible, "\(state); \(advice) (`ChangeOptions.discardsState`)", at: location))
        }
    }
}

extension Plan.Node {
    /// Returns whether an instance of this node, of the same code, can continue as one of another plan's node.
    ///
    /// - Parameter before: The nodes of this plan that those of the other plan continue.
    fileprivate func continues(as node: Plan.Node, _ before: [Int?]) -> Bool {
        (role != .manager || name == node.name) && namespace == node.namespace
            && networkFolder == node.networkFolder && wires.count == node.wires.count
            && zip(wires, node.wires).allSatisfy { was, becomes in
                was.label == becomes.label && before[becomes.provider] == was.provider
            }
    }

    /// The key that lets another definition continue this one, or `nil` if its role has none.
    var wasAdvice: String? {
        switch role {
        case .manager: "`\"was\": \"\(name)\"`"
        case .dataAccessController: namespace.map { "`\"was\": \"\($0)\"`" }
        case .communicationController, .networkService: nil
        }
    }
}

/// The transfer of state from one class to another.
enum StateTransfer: Equatable {
    /// No transfer, because the old class has no state.
    case none
    /// The state is carried over in this version of the schema.
    case carried(StateDescription, as: UInt32, to: StateDescription)
    /// The state cannot be carried over, for this reason.
    case impossible(String, StateDescription)

    init(from old: StateDescription?, to new: StateDescription?) {
        guard let old else {
            self = .none
            return
        }
        guard let new else {
            self = .impossible("the new code has no state", old)
            return
        }
        guard old.schema == new.schema else {
            self = .impossible("its schema is `\(old.schema)`, but that of the new code is `\(new.schema)`", old)
            return
        }
        // The highest version that both know loses the least.
        let low = max(old.writes.lowerBound, new.accepts.lowerBound),
            high = min(old.writes.upperBound, new.accepts.upperBound)
        self =
            low <= high
            ? .carried(old, as: high, to: new)
            : .impossible(
                "`\(old.schema)` is written in \(Self.text(old.writes)), but the new code reads \(Self.text(new.accepts))",
                old)
    }

    var isCarried: Bool { if case .carried = self { true } else { false } }

    private static func text(_ versions: ClosedRange<UInt32>) -> String {
        versions.count == 1
            ? "version \(versions.lowerBound)" : "versions \(versions.lowerBound) to \(versions.upperBound)"
    }
}

extension StateTransfer {
    /// Returns the transfer in the form used in reports.
    func change(to new: StateDescription?) -> StateChange? {
        switch self {
        case .none: new.map { StateChange(schema: $0.schema, toVersion: $0.version) }
        case .carried(let old, _, let new):
            StateChange(schema: old.schema, fromVersion: old.version, toVersion: new.version)
        case .impossible(let reason, let old):
            StateChange(schema: old.schema, fromVersion: old.version, toVersion: new?.version, lost: reason)
        }
    }
}
