import Backplane
import Testing

@testable import BackplaneHost

/// The order of a swap's actions where components run graphs of operations.
@Suite(.timeLimit(.minutes(1)))
struct SwapMachineGraphTests {
    private static let error = BackplaneError(.componentFailed, "on purpose")
    private static let kinds: [SwapMachine.Member] = [
        .init(isGated: false, hasGraphs: true), .init(isGated: true, hasGraphs: true),
        .init(isGated: true, carriesState: true, hasGraphs: true),
        .init(isGated: false, hasNew: false, hasGraphs: true),
        .init(isGated: false), .init(isGated: true),
    ]
    /// All sets of one or two of which one has graphs.
    private static let sets: [[SwapMachine.Member]] =
        kinds.map { [$0] }.filter { $0[0].hasGraphs }
        + kinds.flatMap { first in kinds.map { [first, $0] } }.filter { $0.contains(where: \.hasGraphs) }

    private func run(
        _ members: [SwapMachine.Member], onProbation: Bool = false, failingAt failing: SwapAction? = nil
    ) -> (actions: [SwapAction], outcome: SwapMachine.Outcome?) {
        var machine = SwapMachine(members, onProbation: onProbation), actions: [SwapAction] = []
        while let action = machine.next() {
            actions.append(action)
            machine.begin()
            if action == failing { machine.failed(Self.error) }
        }
        return (actions, machine.outcome)
    }

    /// The places of the actions in a list; `nil` for those that are not in it.
    private func place(_ action: SwapAction, _ actions: [SwapAction]) -> Int? { actions.firstIndex(of: action) }

    @Test func `graphs stand still before they are saved, and go on once callers are served`() throws {
        for members in Self.sets {
            let actions = run(members).actions
            let drain = try #require(place(.drain, actions)), flip = try #require(place(.flip, actions))
            let open = try #require(place(.open, actions))
            #expect(place(.hold, actions) == drain - 1)
            for (number, member) in members.enumerated() {
                let saves = actions.filter { $0 == .saveGraphs(number) }
                let continues = actions.filter { $0 == .continueGraphs(number) }
                #expect(saves.count == (member.hasGraphs ? 1 : 0), "\(members): \(actions)")
                #expect(continues.count == (member.hasGraphs && member.hasNew ? 1 : 0), "\(members): \(actions)")
                if let saved = place(.saveGraphs(number), actions) { #expect(drain < saved && saved < flip) }
                if let suspended = place(.suspend(number), actions), let saved = place(.saveGraphs(number), actions) {
                    #expect(suspended < saved)
                }
                if let continued = place(.continueGraphs(number), actions) { #expect(open < continued) }
            }
        }
    }

    @Test func `a swap that fails before the flip releases what it held, and continues nothing`() {
        for members in Self.sets {
            for failing in [SwapAction.drain, .flip] + members.indices.map(SwapAction.saveGraphs) {
                let (actions, outcome) = run(members, failingAt: failing)
                guard actions.contains(failing) else { continue }
                #expect(outcome == .undone(after: failing, Self.error))
                #expect(actions.filter { $0 == .release }.count == 1, "\(members): \(actions)")
                #expect(!actions.contains { if case .continueGraphs = $0 { true } else { false } })
            }
        }
    }

    @Test func `graphs that cannot be continued keep no swap`() {
        for members in Self.sets where members[0].hasGraphs && members[0].hasNew {
            #expect(run(members, failingAt: .continueGraphs(0)).outcome == .swapped)
        }
    }

    @Test func `after a failed probation the graphs are saved again and go back`() throws {
        for members in Self.sets {
            let (actions, outcome) = run(members, onProbation: true, failingAt: .watch)
            #expect(outcome == .rolledBack(Self.error))
            let back = actions[(try #require(place(.watch, actions)) + 1)...]
            let flip = try #require(back.firstIndex(of: .flipBack))
            for (number, member) in members.enumerated() where member.hasGraphs {
                let saved = back.firstIndex(of: .saveGraphs(number))
                #expect((saved != nil) == member.hasNew, "\(members): \(actions)")
                if let saved { #expect(try #require(back.firstIndex(of: .drain)) < saved && saved < flip) }
                #expect(try #require(back.lastIndex(of: .continueGraphs(number))) > flip, "\(members): \(actions)")
            }
        }
    }
}
