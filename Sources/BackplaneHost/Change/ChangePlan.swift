import Backplane

/// The effect of a change, decided in advance from the active plan and the next one.
///
/// The two plans come from one manifest with different code or from two manifests. They are the same if instances are
/// recreated.
struct ChangePlan {
    /// A component whose instance is replaced, created or removed.
    struct Member {
        /// The component's position in the active plan if it is running, or `nil` if it has no predecessor.
        var old: Int?
        /// The component's position in the next plan, or `nil` if it has none.
        var new: Int?
        /// The position in the active plan of the earlier definition that the component continues, running or not.
        var former: Int?
        /// Whether the code is unchanged.
        var isRestart = false
        var reason: String
        var isGated: Bool
        var state: StateTransfer
    }
    /// The members in order of creation; a removed member precedes the members that were created after it.
    ///
    /// Managers of screens come last, unless a member is wired to them, because the components that their screens call
    /// must exist when the screens are assembled again.
    private(set) var members: [Member] = []
    /// The new positions of the nodes that stay unchanged, keyed by old position.
    private(set) var kept: [Int: Int] = [:]
    /// The old positions of the nodes that stay unchanged, keyed by new position.
    private(set) var stays: [Int: Int] = [:]
    /// The old positions of kept nodes that are reconfigured, in the order of creation.
    private(set) var reconfigured: [Int] = []
    /// The old positions of kept nodes that are not running and that a member calls.
    private(set) var awaited: [Int] = []
    private(set) var refusals: [BackplaneError] = []
    /// The states that the change discards, as sentences without a full stop.
    private(set) var losses: [String] = []
    /// The nodes that continue others, including those that are not running.
    let succession: Succession

    /// The facts about the running host on which the plan depends.
    struct Running {
        var up: Set<Int>
        /// The positions of the managers that each running node has looked up.
        var found: [Int: Set<Int>] = [:]
        /// The names of the managers that the change starts if it defines or redefines them.
        var wanted: Set<String> = []
    }

    private let old, new: Plan
    private let running: Running
    /// The reasons why nodes of the next plan are not kept, by position.
    private var reasons: [Int: String] = [:]
    /// The positions in the next plan of changed nodes whose code is the same.
    private var sameCode: Set<Int> = []

    /// Plans a change.
    ///
    /// - Parameters:
    ///   - recreated: The positions in the next plan of nodes that are recreated without their state.
    ///   - discardsState: Whether state that cannot be carried over is discarded, instead of the change being refused.
    ///   - isReconfigurable: A function that returns whether instances of an entry accept another configuration.
    ///   - isSame: A function that returns whether two entries are the same class of the same loaded library.
    init(
        from old: Plan, to new: Plan, _ running: Running, recreating recreated: Set<Int> = [], discardsState: Bool,
        isReconfigurable: (Catalogue.Entry) -> Bool = { _ in false },
        isSame: (Catalogue.Entry, Catalogue.Entry) -> Bool
    ) {
        (self.old, self.new, self.running) = (old, new, running)
        succession = Succession(from: old, to: new)
        for node in new.nodes {
            let was = succession.before[node.id].map { old.nodes[$0] }
            guard let was, isSame(was.entry, node.entry) else {
                reasons[node.id] = node.reason(after: was)
                continue
            }
            let isReconfigured = was.configuration != node.configuration
            let reason =
                recreated.contains(node.id)
                ? "it was requested"
                : was.difference(from: node, succession.before)
                    ?? (isReconfigured && !isReconfigurable(node.entry)
                        ? "its configuration has changed, and its class accepts no other while it runs" : nil)
            if let reason {
                reasons[node.id] = reason
                sameCode.insert(node.id)
            } else if isReconfigured {
                reconfigured.append(was.id)
            }
        }
        restartUsers()
        let redefined = Set(reasons.keys)
        // A member may start a node that is not up; the node then comes from the new code, as does everything it calls.
        for node in new.nodes where reasons[node.id] == nil && upBefore(node.id) == nil {
            if new.called(by: node).contains(where: { reasons[$0] != nil }) {
                reasons[node.id] = "it calls components that change"
            }
        }
        for node in new.nodes where reasons[node.id] == nil {
            guard let place = succession.before[node.id] else { continue }
            stays[node.id] = place
            kept[place] = node.id
        }
        reconfigured.removeAll { kept[$0] == nil }

        let removed = removable()
        let releasesResources = removed.contains { $0.entry.component.isExclusive }
        for place in needed(redefined).sorted() {
            let former = succession.before[place], predecessor = upBefore(place)
            guard let reason = reasons[place] else {
                if let former, predecessor == nil { awaited.append(former) }
                continue
            }
            let node = new.nodes[place]
            let was = predecessor.map { old.nodes[$0].entry.component }
            let transfer =
                recreated.contains(place) ? .none : StateTransfer(from: was?.state, to: node.entry.component.state)
            if case .impossible(let reason, _) = transfer {
                lose(
                    "the state of \(node.name) cannot be carried over: \(reason)",
                    "give the new code a migration, or discard the state", at: node.location, discardsState)
            }
            let isExclusive = node.entry.component.isExclusive
            let isGated =
                was?.state != nil || was?.isExclusive == true
                || isExclusive && (predecessor != nil || former == nil && releasesResources)
            members.append(
                Member(
                    old: predecessor, new: place, former: former,
                    isRestart: sameCode.contains(place) && predecessor != nil, reason: reason, isGated: isGated,
                    state: transfer))
        }
        remove(removed, discardsState)
        putScreensLast()
    }

    /// Returns the running node that a node of the next plan continues.
    private func upBefore(_ place: Int) -> Int? {
        succession.before[place].flatMap { running.up.contains($0) ? $0 : nil }
    }

    /// Adds the unchanged nodes that restart because a node that they call is replaced.
    private mutating func restartUsers() {
        let candidates = new.nodes.filter { node in
            node.entry.component.restartsOnSwap && reasons[node.id] == nil && upBefore(node.id) != nil
        }
        let called = candidates.map { node in
            let found = upBefore(node.id).flatMap { running.found[$0] } ?? []
            return node.wires.map(\.provider) + found.compactMap { succession.after[$0] }.sorted()
        }
        // A restarting node may cause its users to restart. Because of lookups, users can be anywhere in the order of
        // creation.
        while let next = candidates.indices.first(where: {
            reasons[candidates[$0].id] == nil && called[$0].contains { reasons[$0] != nil }
        }) {
            let cause = called[next].first { reasons[$0] != nil }.map { new.nodes[$0].name } ?? ""
            reasons[candidates[next].id] = "it calls \(cause), and its class restarts when that changes"
            sameCode.insert(candidates[next].id)
        }
    }

    /// Returns the changed nodes that are running or are to start, and everything that they call.
    private func needed(_ redefined: Set<Int>) -> Set<Int> {
        var needed: Set<Int> = []
        var waiting = Set(reasons.keys.filter { upBefore($0) != nil })
        for node in new.nodes where redefined.contains(node.id) && upBefore(node.id) == nil {
            if node.role == .manager {
                if running.wanted.contains(node.name) { waiting.insert(node.id) }
            } else if succession.before[node.id] == nil,
                node.managers.contains(where: { new.managers[$0].flatMap(upBefore) != nil })
            {
                waiting.insert(node.id)
            }
        }
        while let place = waiting.popFirst() {
            guard needed.insert(place).inserted, reasons[place] != nil else { continue }
            waiting.formUnion(new.called(by: new.nodes[place]))
        }
        return needed
    }

    /// Returns the running nodes that no longer have a place, and refuses those that have errors with the new code.
    private mutating func removable() -> [Plan.Node] {
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
            var transfer = StateTransfer.none
            if let state = component.state {
                transfer = .impossible("the manifest no longer has it", state)
                let advice =
                    node.wasAdvice.map { "write \($0) where another continues it, or discard the state" }
                    ?? "keep it, or discard the state"
                lose(
                    "the state of \(node.name) has no successor in the manifest", advice, at: node.location,
                    discardsState)
            }
            let member = Member(
                old: node.id, former: node.id, reason: "the manifest no longer has it",
                isGated: component.state != nil || component.isExclusive, state: transfer)
            let index = members.firstIndex { ($0.old ?? -1) > node.id } ?? members.endIndex
            members.insert(member, at: index)
        }
    }

    /// Moves the managers of screens behind all others, except those that a member is wired to.
    private mutating func putScreensLast() {
        let called = Set(members.compactMap(\.new).flatMap { new.nodes[$0].wires.map(\.provider) })
        func isLast(_ member: Member) -> Bool {
            member.new.map { new.nodes[$0].entry.component.hasScreens && !called.contains($0) } ?? false
        }
        members = members.filter { !isLast($0) } + members.filter(isLast)
    }

    /// Refuses the change because state would be lost, or records the loss if it is intended.
    private mutating func lose(_ state: String, _ advice: String, at location: String, _ discardsState: Bool) {
        if discardsState {
            losses.append(state)
        } else {
            refusals.append(
                BackplaneError(.stateIncompatible, "\(state); \(advice) (`ChangeOptions.discardsState`)", at: location))
        }
    }
}

extension Plan {
    /// Returns the nodes that a node can call by its wires, including collaborators that its class does not declare.
    func called(by node: Node) -> [Int] { node.wires.map(\.provider) + layers(of: node).map(\.id) }
}

extension Plan.Node {
    /// Returns the reason why an instance of this node cannot continue as another plan's node with the same code; `nil`
    /// if it can.
    ///
    /// - Parameter before: The node of this plan that each node of the other plan continues.
    fileprivate func difference(from node: Plan.Node, _ before: [Int?]) -> String? {
        if role == .manager, name != node.name { return "its name was \(name)" }
        if namespace != node.namespace || networkFolder != node.networkFolder { return "it has another folder" }
        let keepsWires =
            wires.count == node.wires.count
            && zip(wires, node.wires).allSatisfy { was, becomes in
                was.label == becomes.label && before[becomes.provider] == was.provider
            }
        return keepsWires ? nil : "its wires have changed"
    }

    /// Returns the reason why this node needs an instance of its own code.
    fileprivate func reason(after was: Plan.Node?) -> String {
        guard let was else { return "it is new in the manifest" }
        let (old, new) = (was.entry, entry)
        guard old.plugin == new.plugin, old.component.className == new.component.className else {
            return "its class was \(old.component.className) of \(old.plugin)"
        }
        return "its code is new"
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
