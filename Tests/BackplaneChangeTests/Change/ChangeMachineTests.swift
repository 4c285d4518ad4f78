import Backplane
import Testing

@testable import BackplaneHost

/// What a swap does next, for all small sets of members and everything that may fail, without a host.
struct ChangeMachineTests {
    /// When an action fails.
    private enum Moment: CaseIterable {
        /// Nothing of it was done yet; only of those that can fail.
        case before
        case within
        /// It had done what it is for.
        case after
    }

    /// What was done, and how it ended.
    private struct Run: CustomStringConvertible {
        let members: [ChangeMachine.Member]
        let onProbation: Bool
        /// The places in ``actions`` of those that failed.
        var failed: [Int] = []
        var actions: [ChangeAction] = []
        var moment = Moment.within
        var outcome: ChangeMachine.Outcome?
        /// At its end.
        var states: ChangeStates

        /// Was anything done of the action at a place?
        func began(_ place: Int) -> Bool { !failed.contains(place) || moment != .before || !actions[place].canFail }
        /// Did it do what it is for?
        func didIt(_ place: Int) -> Bool { !failed.contains(place) || moment == .after }
        func place(_ action: ChangeAction) -> Int? { actions.firstIndex(of: action) }
        func count(_ action: ChangeAction) -> Int { actions.count { $0 == action } }
        var description: String {
            let members = members.map {
                ($0.isGated ? "gated" : "ungated") + ($0.hasOld ? " old" : "") + ($0.carriesState ? " state" : "")
            }
            return
                "\(members)\(onProbation ? " on probation" : ""), failing at \(failed), \(moment) what is done there: \(actions); in the end \(states)"
        }
    }

    private static let error = BackplaneError(.componentFailed, "on purpose")
    private static let kinds: [ChangeMachine.Member] = [
        .init(isGated: false), .init(isGated: false, hasOld: false), .init(isGated: true),
        .init(isGated: true, hasOld: false),
        .init(isGated: true, carriesState: true),
    ]
    private static let removed: [ChangeMachine.Member] = [
        .init(isGated: false, hasNew: false), .init(isGated: true, hasNew: false),
    ]
    /// All sets of up to three, of which removed ones are only in those of up to two.
    private static let sets: [[ChangeMachine.Member]] = (0...3).flatMap { count in
        let kinds = count < 3 ? kinds + removed : kinds
        return (0..<count).reduce([[]]) { sets, _ in sets.flatMap { set in kinds.map { set + [$0] } } }
    }

    /// - Parameter fails: by the place of an action among those of the run.
    private func run(
        _ members: [ChangeMachine.Member], _ onProbation: Bool, _ moment: Moment = .within, fails: (Int) -> Bool
    ) -> Run {
        // Half of all have instances that stay and take another configuration.
        var machine = ChangeMachine(members, onProbation: onProbation, reconfigures: members.count.isMultiple(of: 2))
        var run = Run(members: members, onProbation: onProbation, moment: moment, states: machine.states)
        while let action = machine.next() {
            let place = run.actions.count
            run.actions.append(action)
            if fails(place) {
                run.failed.append(place)
                if run.began(place) { machine.begin() }
                if run.didIt(place) { machine.finish() }
                machine.failed(Self.error)
            } else if place.isMultiple(of: 2) {
                // Whoever does not say that an action has begun, or is done, says so by asking for the next.
                machine.begin()
                machine.finish()
            }
            guard run.actions.count < 200 else {
                Issue.record("it does not end: \(run)")
                break
            }
        }
        (run.outcome, run.states) = (machine.outcome, machine.states)
        #expect(machine.next() == nil)
        return run
    }

    /// Every run where nothing fails, one action does, at every moment, or one and then another or all that come after
    /// it.
    private func forAll(_ body: (Run) -> Void) {
        for members in Self.sets {
            for onProbation in [false, true] {
                let sound = run(members, onProbation) { _ in false }
                body(sound)
                for first in sound.actions.indices {
                    for moment in Moment.allCases { body(run(members, onProbation, moment) { $0 == first }) }
                    body(run(members, onProbation) { $0 >= first })
                    let one = run(members, onProbation) { $0 == first }
                    for second in one.actions.indices.dropFirst(first + 1) {
                        body(run(members, onProbation) { $0 == first || $0 == second })
                    }
                }
            }
        }
    }

    /// What has to be undone, and by what.
    private func undoing(_ action: ChangeAction) -> ChangeAction? {
        switch action {
        case .create(let member): .discard(member)
        case .hold: .release
        case .suspend(let member): .resume(member)
        case .reconfigure: .revert
        case .flip: .unflip
        case .activate(let member): .deactivate(member)
        default: nil
        }
    }

    @Test func `a swap in which nothing fails does every step of every member once, in its order`() {
        for members in Self.sets {
            for onProbation in [false, true] {
                let run = run(members, onProbation) { _ in false }, all = members.indices,
                    gated = all.filter { members[$0].isGated }
                #expect(run.outcome == .changed)
                #expect(Set(run.actions).count == run.actions.count, "\(run)")
                var steps = run.actions.filter {
                    if case .activate(let member) = $0 { members[member].isGated } else { true }
                }.map(\.step)
                steps = steps.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
                #expect(steps == ChangeStep.allCases.filter(steps.contains), "\(run)")
                for member in all {
                    let made = members[member].hasNew ? 1 : 0
                    #expect(run.count(.create(member)) == made && run.count(.activate(member)) == made, "\(run)")
                    #expect(
                        run.count(.suspend(member)) == (members[member].isGated && members[member].hasOld ? 1 : 0),
                        "\(run)")
                    #expect(run.count(.export(member)) == (members[member].carriesState ? 1 : 0), "\(run)")
                    #expect(run.count(.import(member)) == run.count(.export(member)), "\(run)")
                    if let activation = run.place(.activate(member)) {
                        #expect(
                            (activation < run.place(.flip)!) == !members[member].isGated,
                            "nobody waits for those without a gate: \(run)")
                    }
                }
                // Whoever calls another is made after it, and is still before it.
                #expect(
                    run.actions.compactMap { if case .create(let member) = $0 { member } else { nil } }
                        == all.filter { members[$0].hasNew })
                let suspended = run.actions.compactMap { if case .suspend(let member) = $0 { member } else { nil } }
                #expect(suspended == suspended.sorted(by: >), "\(run)")
                #expect(
                    run.count(.hold) == (gated.isEmpty ? 0 : 1) && run.count(.open) == run.count(.hold)
                        && run.count(.drain) == run.count(.hold))
                #expect(run.count(.reconfigure) == (members.count.isMultiple(of: 2) ? 1 : 0))
                #expect(run.count(.watch) == (onProbation ? 1 : 0) && run.actions.last == .retire)
            }
        }
    }

    @Test func `until the gates open everything that was begun is taken back once, the last first`() {
        forAll { run in
            guard let first = run.failed.first, case .undone(let action, let error) = run.outcome else { return }
            #expect(action == run.actions[first] && error == Self.error)
            let begun = run.began(first) ? run.actions[...first] : run.actions[..<first]
            let expected = begun.indices.reversed().compactMap { place -> ChangeAction? in
                // One that did not become active has nothing to give up.
                if case .activate = run.actions[place], !run.didIt(place) { return nil }
                return undoing(run.actions[place])
            }
            #expect(Array(run.actions[(first + 1)...]) == expected, "\(run)")
        }
    }

    @Test func `whatever fails, the old instances serve or the new ones, with open gates and nothing left over`() {
        forAll { run in
            var created: Set<Int> = [], active: Set<Int> = [], asleep: Set<Int> = [], isHeld = false, servesNew = false
            for (place, action) in run.actions.enumerated() where run.began(place) {
                switch action {
                case .create(let member): created.insert(member)
                case .hold: isHeld = true
                case .suspend(let member): asleep.insert(member)
                case .flip: servesNew = true
                case .activate(let member):
                    if run.didIt(place) { active.insert(member) }
                case .open, .release, .reopen: isHeld = false
                case .deactivate(let member): active.remove(member)
                case .resume(let member): asleep.remove(member)
                case .restore(let member):
                    if run.didIt(place) { asleep.remove(member) }
                case .unflip, .flipBack: servesNew = false
                case .discard(let member):
                    #expect(!servesNew, "a new one is given up only once it is not active: \(run)")
                    created.remove(member)
                case .export, .import, .reconfigure, .revert, .drain, .outlast, .watch,
                    .retire:
                    break
                }
                if let member = action.member, run.members[member].hasNew, !action.endsLife {
                    #expect(created.contains(member), "before it was made: \(run)")
                }
                if case .release = action { #expect(asleep.isEmpty, "calls go on to one that is suspended: \(run)") }
                if case .flipBack = action { #expect(asleep.allSatisfy { !run.members[$0].hasOld || servesNew }) }
            }
            #expect(!isHeld, "\(run)")
            switch run.outcome {
            case .changed:
                let made = run.members.indices.filter { run.members[$0].hasNew }
                #expect(servesNew && created == Set(made) && run.actions.last == .retire, "\(run)")
                #expect(
                    run.states.wires == .new && run.states.new == run.members.map { $0.hasNew ? .active : .none },
                    "\(run)")
                #expect(
                    run.states.old == run.members.map { !$0.hasOld ? .none : $0.isGated ? .suspended : .up },
                    "those without a gate end later: \(run)")
                let excused = run.failed.allSatisfy { run.actions[$0] == .open || run.actions[$0] == .retire }
                #expect(excused, "it came about though something failed: \(run)")
            case .undone, .rolledBack:
                #expect(!servesNew && created.isEmpty && asleep.isEmpty, "\(run)")
                expectOld(run)
                #expect(active.allSatisfy { !run.members[$0].isGated } || run.actions.contains(.flipBack), "\(run)")
            case nil: Issue.record("no outcome: \(run)")
            }
        }
    }

    /// What the machine itself holds of a run after which the old generation serves.
    private func expectOld(_ run: Run) {
        let isUndone = if case .undone = run.outcome { true } else { false }
        #expect(run.states.wires == (isUndone ? .old : .oldAgain), "\(run)")
        for (index, member) in run.members.enumerated() {
            let isReplaced = run.place(.restore(index)).map { !run.failed.contains($0) } ?? false
            #expect(run.states.old[index] == (!member.hasOld ? .none : isReplaced ? .replaced : .up), "\(run)")
            let isGone = run.place(.discard(index)).map(run.didIt) ?? (run.states.new[index] == .none)
            #expect(isGone == [.none, .discarded].contains(run.states.new[index]), "\(run)")
        }
    }

    @Test func `once calls go to the new code nothing but a failed probation brings the old back`() {
        forAll { run in
            guard let open = run.place(.open) ?? run.place(.retire) else { return }
            let rest = run.actions[(open + 1)...]
            guard let watch = run.place(.watch), run.failed.contains(watch) else {
                #expect(rest.allSatisfy { $0 == .watch || $0 == .retire }, "\(run)")
                return
            }
            #expect(run.outcome == .rolledBack(Self.error) && !run.actions.contains(.retire), "\(run)")
            #expect(!rest.contains(.unflip) && !rest.contains(.release), "\(run)")
        }
    }

    @Test func `the way back lets calls wait, brings back every old instance, and then opens`() {
        for members in Self.sets {
            let sound = run(members, true) { _ in false }, watch = sound.place(.watch)!
            let run = run(members, true) { $0 == watch }, back = Array(run.actions[(watch + 1)...])
            let gated = members.indices.filter { members[$0].isGated }
            #expect(back.contains(.hold) == !gated.isEmpty && back.contains(.open) == !gated.isEmpty)
            for member in members.indices {
                let returning: ChangeAction = members[member].carriesState ? .restore(member) : .resume(member)
                #expect(
                    back.count { $0 == returning } == (members[member].hasOld && members[member].isGated ? 1 : 0),
                    "the others were never suspended: \(run)")
                #expect(
                    back.contains(.deactivate(member)) == (members[member].isGated && members[member].hasNew),
                    "those without a gate serve until nobody calls them: \(run)")
                #expect(back.count { $0 == .discard(member) } == (members[member].hasNew ? 1 : 0))
                if let end = back.firstIndex(of: .deactivate(member)), let begin = back.firstIndex(of: returning) {
                    #expect(end < begin)
                }
                if let returns = back.firstIndex(of: returning) { #expect(returns < back.firstIndex(of: .flipBack)!) }
                if let open = back.firstIndex(of: .open), let discard = back.firstIndex(of: .discard(member)) {
                    #expect(open < discard, "nobody waits for the end of the new one")
                }
            }
        }
    }

    @Test
    func
        `nothing that fails on the way back changes it, but that one goes on from where it was whose state cannot be handed back`()
    {
        for members in Self.sets {
            let sound = run(members, true) { _ in false }, watch = sound.place(.watch)!,
                way = run(members, true) { $0 == watch }.actions[(watch + 1)...]
            for moment in Moment.allCases {
                for failing in way.indices {
                    let run = run(members, true, moment) { $0 == watch || $0 == failing }
                    var expected = Array(way)
                    if case .restore(let member) = way[failing] {
                        expected.insert(.resume(member), at: failing - watch)
                    }
                    #expect(
                        Array(run.actions[(watch + 1)...]) == expected && run.outcome == .rolledBack(Self.error),
                        "\(run)")
                }
                let all = run(members, true, moment) { $0 >= watch }
                let expected = way.flatMap { action -> [ChangeAction] in
                    if case .restore(let member) = action { [action, .resume(member)] } else { [action] }
                }
                #expect(Array(all.actions[(watch + 1)...]) == expected, "\(all)")
            }
        }
    }

    @Test
    func
        `wires lead to the new instances from the flip on, once gates are open, and a probation lasts while it is watched`()
    {
        for members in Self.sets {
            var machine = ChangeMachine(members, onProbation: true), isFlipped = false, isOpen = false
            while let action = machine.next() {
                #expect(!machine.isOnProbation)
                machine.begin()
                if action == .flip { (isFlipped, isOpen) = (true, !members.contains(where: \.isGated)) }
                if action == .open { isOpen = true }
                #expect(machine.states.wires == (!isFlipped ? .old : isOpen ? .new : .newOnceOpen))
                #expect(machine.isOnProbation == (action == .watch))
                machine.finish()
                #expect(!machine.isOnProbation && !machine.isTakingBack)
            }
        }
    }

    // MARK: Drains that come later

    /// Runs a swap whose drain is outlasted so often, and which then fails at an action or not.
    private func runLater(_ members: [ChangeMachine.Member], times: Int, failing: ChangeAction? = nil) -> Run {
        var machine = ChangeMachine(members, onProbation: false, reconfigures: members.count.isMultiple(of: 2))
        var run = Run(members: members, onProbation: false, states: machine.states), left = times
        while let action = machine.next() {
            run.actions.append(action)
            machine.begin()
            if action == .drain, left > 0 {
                left -= 1
                let isPutOff = machine.postpone()
                #expect(isPutOff)
            } else if action == failing, left == 0 {
                machine.failed(Self.error)
            }
            guard run.actions.count < 200 else {
                Issue.record("it does not end: \(run)")
                break
            }
        }
        (run.outcome, run.states) = (machine.outcome, machine.states)
        return run
    }

    @Test func `a drain that is put off opens the gates, waits, and holds and drains again`() {
        let round: [ChangeAction] = [.hold, .drain, .reopen, .outlast]
        for members in Self.sets where members.contains(where: \.isGated) {
            let sound = run(members, false) { _ in false }
            for times in 0...3 {
                let later = runLater(members, times: times)
                #expect(later.outcome == .changed && later.states == sound.states)
                let hold = sound.place(.hold)!
                let expected =
                    sound.actions[..<hold] + Array(repeating: round, count: times).joined() + sound.actions[hold...]
                #expect(later.actions == Array(expected), "\(later)")
            }
        }
    }

    @Test func `what fails while the gates are open again is undone without releasing them`() {
        for members in Self.sets where members.contains(where: \.isGated) {
            for failing in [ChangeAction.outlast, .drain] {
                let later = runLater(members, times: failing == .outlast ? 1 : 2, failing: failing)
                guard case .undone(after: failing, _)? = later.outcome else {
                    Issue.record("\(later)")
                    continue
                }
                #expect(later.count(.release) == (failing == .drain ? 1 : 0), "\(later)")
                #expect(later.states.wires == .old)
                #expect(!later.states.old.contains(.suspended))
            }
        }
    }

    @Test func `nothing is put off but a drain, and none while a swap is undone`() {
        var machine = ChangeMachine([.init(isGated: true)], onProbation: false), failed = false
        while let action = machine.next() {
            machine.begin()
            if action != .drain || failed {
                let isPutOff = machine.postpone()
                #expect(!isPutOff, "\(action)")
            }
            if action == .watch || action == .flip {
                failed = true
                machine.failed(Self.error)
            }
        }
        #expect(failed)
    }
}

extension ChangeAction {
    /// The one member that it is about.
    fileprivate var member: Int? {
        switch self {
        case .create(let member), .suspend(let member), .export(let member),
            .import(let member), .activate(let member), .discard(let member),
            .deactivate(let member), .resume(let member), .restore(let member):
            member
        case .hold, .drain, .reopen, .outlast, .reconfigure, .flip, .open, .watch, .retire, .unflip, .revert, .release,
            .flipBack:
            nil
        }
    }

    fileprivate var endsLife: Bool { if case .discard = self { true } else { false } }
}
