import Backplane
import BackplaneDocuments
import TestFixtures
import Testing

@testable import BackplaneHost

/// What a swap would change, decided without a host.
struct ChangePlanTests {
    private static let friend = ContractDescription.of("Friend")

    private struct Traits {
        var isExclusive = false, restarts = false
        var state: StateDescription?
    }

    private static func state(_ version: UInt32, accepts: ClosedRange<UInt32>? = nil) -> StateDescription {
        StateDescription(
            schema: "sum", version: version, accepts: accepts ?? version...version, writes: version...version)
    }

    /// A class of managers that may call another manager, and look up what they like.
    private static func person(_ name: String, _ traits: Traits = Traits()) -> ComponentDescription {
        ComponentDescription(
            role: .manager, className: name, version: "1.0.0", contract: friend,
            wires: [.to("friend", friend, optional: true), .to("dataAccessController", .of("Store"), optional: true)],
            isExclusive: traits.isExclusive,
            restartsOnSwap: traits.restarts, state: traits.state)
    }

    /// Plugin 0 has `Left`, plugin 1 `Right` and `Other`, plugin 2 `Store`.
    private func plan(
        _ managers: ManifestValue, left: Traits = Traits(), right: Traits = Traits(), store: Traits = Traits(),
        others: [ComponentDescription] = []
    ) throws -> Plan {
        var stored = ComponentDescription.dataAccess("Store", provides: .of("Store"))
        (stored.isExclusive, stored.restartsOnSwap, stored.state) = (store.isExclusive, store.restarts, store.state)
        let resolution = Resolution(
            managers,
            Catalogue(
                plugins: [Self.person("Left", left)], [Self.person("Right", right), Self.person("Other")] + others,
                [stored]))
        #expect(resolution.problems.filter { $0.severity == .error } == [])
        try resolution.plan.checkInvariants()
        return resolution.plan
    }

    /// - Parameters:
    ///   - plugins: the places of those that are swapped.
    ///   - down: what is not up, by its name.
    private func swap(
        _ old: Plan, _ new: Plan, plugins: Set<Int>, down: Set<String> = [], found: [String: Set<String>] = [:],
        wanted: Set<String> = [], discardsState: Bool = false
    ) -> ChangePlan {
        var running = ChangePlan.Running(up: Set(old.nodes.filter { !down.contains($0.name) }.map(\.id)))
        running.wanted = wanted
        for (asker, names) in found { running.found[old.managers[asker]!] = Set(names.map { old.managers[$0]! }) }
        let plan = ChangePlan(from: old, to: new, running, discardsState: discardsState) {
            !plugins.contains($1.order) && $0 == $1
        }
        let members = plan.members.compactMap(\.new)
        #expect(
            members == members.sorted() && Set(members).count == members.count, "in the order of creation, each once")
        #expect(Set(members).isDisjoint(with: plan.kept.values))
        return plan
    }

    private func names(_ swap: ChangePlan, _ plan: Plan) -> [String] {
        swap.members.compactMap { $0.new.map { plan.nodes[$0].name } }
    }
    private func gated(_ swap: ChangePlan, _ plan: Plan) -> [String] {
        swap.members.filter(\.isGated).compactMap { $0.new.map { plan.nodes[$0].name } }
    }

    private static let pair: ManifestValue = [
        "A": ["className": "Right"], "B": ["className": "Left", "uses": ["friend": "A"]],
    ]
    private static let chain: ManifestValue = [
        "A": ["className": "Right"], "B": ["className": "Left", "uses": ["friend": "A"]],
        "C": ["className": "Left", "uses": ["friend": "B"]],
    ]

    @Test func `components of a swapped plugin change, their callers stay`() throws {
        let plan = try plan(Self.pair), swap = swap(plan, plan, plugins: [1])
        #expect(names(swap, plan) == ["A"] && swap.kept == [1: 1])
        #expect(swap.members.map(\.old) == [0] && swap.refusals == [] && swap.awaited == [])
    }

    @Test func `several plugins change together, those that are called first`() throws {
        let plan = try plan(Self.pair), swap = swap(plan, plan, plugins: [0, 1])
        #expect(names(swap, plan) == ["A", "B"] && swap.kept == [:])
    }

    @Test func `managers of screens come last, unless one that changes is wired to them`() throws {
        let screens = ContractDescription.of("Screens")
        let pages = ComponentDescription(role: .manager, className: "Pages", version: "1.0.0", contract: screens)
        let shell = ComponentDescription(
            role: .manager, className: "Shell", version: "1.0.0", contract: Self.friend,
            wires: [.to("friend", screens, optional: true)])
        let managers: ManifestValue = [
            "A": ["className": "Pages"], "B": ["className": "Right"], "C": ["className": "Pages"],
            "D": ["className": "Shell", "uses": ["friend": "C"]],
        ]
        let plan = try plan(managers, others: [pages, shell])
        let changes = ChangePlan(
            from: plan, to: plan, ChangePlan.Running(up: Set(plan.nodes.map(\.id))), discardsState: false
        ) { _, _ in false }
        #expect(names(changes, plan) == ["B", "C", "D", "A"])
    }

    @Test func `an unused plugin changes nothing`() throws {
        let plan = try plan(Self.pair), swap = swap(plan, plan, plugins: [2])
        #expect(swap.members.isEmpty && swap.kept == [0: 0, 1: 1])
    }

    @Test func `one that is not up has no successor until somebody needs it`() throws {
        let plan = try plan(Self.pair), swap = swap(plan, plan, plugins: [1], down: ["A", "B"])
        #expect(swap.members.isEmpty && swap.kept == [:] && swap.awaited == [], "who calls it comes up when it does")
    }

    @Test func `one that is not up is made when one that changes calls it`() throws {
        let plan = try plan(Self.pair)
        let both = swap(plan, plan, plugins: [0, 1], down: ["A"])
        #expect(
            names(both, plan) == ["A", "B"] && both.members.map(\.old) == [nil, 1],
            "of the new code, where that changes too")
        let one = swap(plan, plan, plugins: [0], down: ["A"])
        #expect(names(one, plan) == ["B"] && one.awaited == [0], "as it is, where it does not")
    }

    @Test func `one that is not up, between two that change, is made from the new code too`() throws {
        let managers: ManifestValue = [
            "A": ["className": "Left"], "B": ["className": "Right", "uses": ["friend": "A"]],
            "C": ["className": "Left", "uses": ["friend": "B"]],
        ]
        let plan = try plan(managers), between = swap(plan, plan, plugins: [0], down: ["B"])
        #expect(names(between, plan) == ["A", "B", "C"] && between.members.map(\.old) == [0, nil, 2])
        #expect(between.awaited == [] && between.kept == [:], "started before, it would be wired to the old A")
        #expect(between.members.map(\.isRestart) == [false, false, false], "it is not the one that was")
        // Nobody who changes calls it: it comes up when it is asked for, and then calls the new A.
        let above = swap(plan, plan, plugins: [0], down: ["B", "C"])
        #expect(names(above, plan) == ["A"] && above.kept == [:])
        let up = swap(plan, plan, plugins: [0])
        #expect(names(up, plan) == ["A", "C"] && up.kept == [1: 1], "while it is up it stays")
    }

    @Test func `calls wait for components that have state or are exclusive, and for no others`() throws {
        let exclusive = Traits(isExclusive: true), stateful = Traits(state: Self.state(1)), plain = Traits()
        for (before, after, isGated) in [
            (plain, plain, false), (exclusive, plain, true), (plain, exclusive, true), (stateful, stateful, true),
            (plain, stateful, false),
        ] {
            let (old, new) = (try plan(Self.pair, right: before), try plan(Self.pair, right: after))
            #expect(gated(swap(old, new, plugins: [1]), new) == (isGated ? ["A"] : []), "\(before) to \(after)")
        }
        let (old, new) = (try plan(Self.pair, right: plain), try plan(Self.pair, right: exclusive))
        #expect(gated(swap(old, new, plugins: [0, 1], down: ["A"]), new) == [], "there is no old one to wait for")
    }

    @Test func `state that is discarded waits all the same, as the old one has to be still`() throws {
        let (old, new) = (
            try plan(Self.pair, right: Traits(state: Self.state(1))),
            try plan(Self.pair, right: Traits(state: Self.state(2)))
        )
        let refused = swap(old, new, plugins: [1])
        #expect(refused.refusals.map(\.code) == [.stateIncompatible] && refused.refusals[0].location == "/managers/A")
        #expect(
            refused.refusals[0].message
                == "the state of A cannot be carried over: `sum` is written in version 1, but the new code reads version 2; give the new code a migration, or discard the state (`ChangeOptions.discardsState`)"
        )
        let discarded = swap(old, new, plugins: [1], discardsState: true)
        #expect(discarded.refusals == [] && gated(discarded, new) == ["A"] && !discarded.members[0].state.isCarried)
    }

    @Test func `a component that keeps no state any more is refused likewise`() throws {
        let (old, new) = (try plan(Self.pair, right: Traits(state: Self.state(1))), try plan(Self.pair))
        #expect(swap(old, new, plugins: [1]).refusals.map(\.code) == [.stateIncompatible])
        #expect(swap(old, new, plugins: [1], discardsState: true).refusals == [])
    }

    @Test func `newer state is read by code that accepts the older, and the way back is another matter`() throws {
        let (old, new) = (
            try plan(Self.pair, right: Traits(state: Self.state(1))),
            try plan(Self.pair, right: Traits(state: Self.state(2, accepts: 1...2)))
        )
        let forth = swap(old, new, plugins: [1])
        #expect(forth.refusals == [] && forth.members[0].state.isCarried)
        #expect(swap(new, old, plugins: [1]).refusals.count == 1, "it writes version 2 alone")
    }

    @Test func `a component that asks for it is restarted with what it calls, transitively`() throws {
        let plan = try plan(Self.chain, left: Traits(restarts: true)), swap = swap(plan, plan, plugins: [1])
        #expect(names(swap, plan) == ["A", "B", "C"])
        #expect(swap.members.map(\.isRestart) == [false, true, true])
    }

    @Test func `one that is restarted is not made when it is not up`() throws {
        let plan = try plan(Self.chain, left: Traits(restarts: true))
        let swap = swap(plan, plan, plugins: [1], down: ["B", "C"])
        #expect(names(swap, plan) == ["A"] && swap.kept == [:])
    }

    @Test func `a component that looked up what changes is restarted as if it had a wire`() throws {
        let managers: ManifestValue = [
            "A": ["className": "Right"], "B": ["className": "Left"], "C": ["className": "Left"],
        ]
        let plan = try plan(managers, left: Traits(restarts: true))
        #expect(names(swap(plan, plan, plugins: [1], found: ["B": ["A"]]), plan) == ["A", "B"])
    }

    @Test func `a look-up against the order of creation restarts too`() throws {
        // Z is created last, and A, which is created first, looked it up.
        let managers: ManifestValue = ["A": ["className": "Left"], "Z": ["className": "Right"]]
        let plan = try plan(managers, left: Traits(restarts: true))
        #expect(names(swap(plan, plan, plugins: [1], found: ["A": ["Z"]]), plan) == ["A", "Z"])
        // And one that looked up one that is restarted for a look-up of its own.
        let more: ManifestValue = ["A": ["className": "Left"], "B": ["className": "Left"], "Z": ["className": "Right"]]
        let longer = try self.plan(more, left: Traits(restarts: true))
        #expect(names(swap(longer, longer, plugins: [1], found: ["A": ["B"], "B": ["Z"]]), longer) == ["A", "B", "Z"])
    }

    @Test func `a shared component changes once, for all its users`() throws {
        let managers: ManifestValue = [
            "A": ["className": "Left", "dataAccessController": ["className": "Store"]],
            "B": ["className": "Right", "dataAccessController": ["className": "Store"]],
        ]
        let plan = try plan(managers, store: Traits(state: Self.state(1))), swap = swap(plan, plan, plugins: [2])
        #expect(names(swap, plan) == ["Store"] && gated(swap, plan) == ["Store"] && swap.kept.count == 2)
    }

    @Test func `what is up and has no place with the new code is refused`() throws {
        let old = try plan(Self.pair)
        let new = Resolution(Self.pair, Catalogue(plugins: [Self.person("Left")], [Self.person("Other")], [])).plan
        let swap = swap(old, new, plugins: [1])
        #expect(swap.refusals.map(\.code).contains(.swapRefused))
        #expect(
            swap.refusals.first?.message.hasPrefix(
                "A is running, but would have no place in the manifest with the new code")
                == true)
    }

    @Test func `what comes to call others is recreated with the same code`() throws {
        let old = try plan(["A": ["className": "Right"], "B": ["className": "Left"]]), new = try plan(Self.pair)
        let swap = swap(old, new, plugins: [])
        #expect(swap.refusals == [] && names(swap, new) == ["B"] && swap.members.map(\.isRestart) == [true])
        #expect(swap.kept == [0: 0])
    }

    // MARK: Other manifests

    @Test func `a renamed manager changes, and those that call it stay`() throws {
        let renamed: ManifestValue = [
            "Z": ["className": "Right", "was": "A"], "B": ["className": "Left", "uses": ["friend": "Z"]],
        ]
        let (old, new) = (try plan(Self.pair), try plan(renamed)), swap = swap(old, new, plugins: [])
        #expect(names(swap, new) == ["Z"] && swap.members.map(\.old) == [old.managers["A"]])
        #expect(swap.kept == [old.managers["B"]!: new.managers["B"]!] && swap.refusals == [])
    }

    @Test func `a manager that is removed is a member without a successor, before those that call it`() throws {
        let (old, new) = (try plan(Self.chain), try plan(["B": ["className": "Left"], "C": ["className": "Left"]]))
        let swap = swap(old, new, plugins: [])
        #expect(swap.members.map(\.old) == [0, 1, 2] && swap.members.map(\.new) == [nil, 0, 1])
        #expect(swap.refusals == [] && swap.members.allSatisfy { !$0.isGated })
    }

    @Test func `a removed manager with state is refused, or its state is lost`() throws {
        let old = try plan(Self.pair, right: Traits(state: Self.state(1))), new = try plan(["B": ["className": "Left"]])
        #expect(swap(old, new, plugins: []).refusals.map(\.code) == [.stateIncompatible])
        let discarded = swap(old, new, plugins: [], discardsState: true)
        #expect(discarded.refusals == [] && discarded.losses == ["the state of A has no successor in the manifest"])
        #expect(discarded.members.first?.isGated == true, "it may still be needed as it is when the gates open")
        #expect(swap(old, new, plugins: [], down: ["A"]).refusals == [], "one that is not up has none")
    }

    @Test func `added managers come up where they are wanted, with all that they call`() throws {
        let (old, new) = (try plan([:]), try plan(Self.chain))
        let none = swap(old, new, plugins: [])
        #expect(none.members.isEmpty)
        let wanted = swap(old, new, plugins: [], wanted: ["B"])
        #expect(names(wanted, new) == ["A", "B"] && wanted.members.map(\.old) == [nil, nil])
    }

    @Test func `what is added beside a removed exclusive one waits until that has given up its resources`() throws {
        let exclusive = Traits(isExclusive: true)
        let old = try plan(["A": ["className": "Right"]], right: exclusive)
        let new = try plan(["Z": ["className": "Right"]], right: exclusive)
        let swap = swap(old, new, plugins: [], wanted: ["Z"])
        #expect(swap.members.map(\.isGated) == [true, true])
        #expect(
            self.swap(try plan([:], right: exclusive), new, plugins: [], wanted: ["Z"]).members.map(\.isGated) == [
                false
            ])
    }

    @Test func `another configuration recreates a component unless its class takes it`() throws {
        let new: ManifestValue = [
            "A": ["className": "Right", "configuration": ["size": 2]],
            "B": ["className": "Left", "uses": ["friend": "A"]],
        ]
        let (before, after) = (try plan(Self.pair), try plan(new))
        #expect(names(swap(before, after, plugins: []), after) == ["A"])
        let living = ChangePlan(
            from: before, to: after, ChangePlan.Running(up: [0, 1]), discardsState: false,
            isReconfigurable: { _ in true }
        ) { $0 == $1 }
        #expect(living.members.isEmpty && living.reconfigured == [0] && living.kept == [0: 0, 1: 1])
    }
}
