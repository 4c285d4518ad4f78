import Foundation
import Testing

/// The protocol of leases, in every order in which its steps can happen.
@Suite(.timeLimit(.minutes(5)))
struct LeaseModelTests {
    /// The shortest way to what must not be, a step a line.
    private func trace(_ exploration: Exploration) -> String? {
        exploration.counterexample.map { $0.map(\.description).joined(separator: "\n") }
    }

    private func expectProof(_ model: LeaseModel, over states: Int) {
        let exploration = Exploration(model, numbersCallers: false)
        #expect(trace(exploration) == nil)
        #expect(exploration.states > states, "all of it was looked at")
        #expect(
            !exploration.ends.isEmpty && exploration.ends.allSatisfy(model.isOver),
            "every call ends, and every binding drains")
    }

    @Test func `no caller uses a drained binding, with three callers and two flips`() {
        expectProof(LeaseModel(), over: 60_000)
    }

    @Test func `nor when what callers count stays in store buffers, as long as the flipper empties them`() {
        expectProof(LeaseModel(memory: .buffered, callers: 2), over: 60_000)
    }

    @Test(
        .enabled(if: StressTime.isGiven, "BACKPLANE_STRESS_SECONDS is not set: two million states take half a minute"))
    func `nor with store buffers and three callers`() {
        expectProof(LeaseModel(memory: .buffered), over: 1_900_000)
    }

    @Test func `without the second look at the slot a caller comes too late`() {
        #expect(
            trace(Exploration(LeaseModel(rechecks: false))) == """
                caller 0 loads the slot
                the flipper exchanges the binding
                the flipper reads the leaves of processor 0
                the flipper reads the leaves of processor 1
                the flipper reads the entries of processor 0
                the flipper reads the entries of processor 1
                caller 0 counts in on processor 0
                """)
    }

    @Test func `without the barrier the flipper does not see the callers inside`() {
        #expect(
            trace(Exploration(LeaseModel(memory: .buffered, hasBarrier: false))) == """
                caller 0 loads the slot
                caller 0 counts in on processor 0
                caller 0 looks at the slot again
                the flipper exchanges the binding
                the flipper reads the leaves of processor 0
                the flipper reads the leaves of processor 1
                the flipper reads the entries of processor 0
                the flipper reads the entries of processor 1
                """)
    }

    @Test func `with entries summed before exits, a caller that comes and goes hides one that stays`() {
        #expect(
            trace(Exploration(LeaseModel(counting: .entriesFirst))) == """
                caller 0 loads the slot
                caller 0 counts in on processor 0
                caller 0 looks at the slot again
                caller 1 loads the slot
                the flipper exchanges the binding
                the flipper reads the entries of processor 0
                the flipper reads the entries of processor 1
                the flipper reads the leaves of processor 0
                caller 1 counts in on processor 0
                caller 1 looks at the slot again
                caller 1 counts out on processor 1
                the flipper reads the leaves of processor 1
                """)
    }

    @Test func `with one counter for both, a caller that changes processors hides one that stays`() {
        #expect(
            trace(Exploration(LeaseModel(counting: .oneCounter))) == """
                caller 0 loads the slot
                caller 0 counts in on processor 0
                caller 0 looks at the slot again
                caller 1 loads the slot
                the flipper exchanges the binding
                the flipper reads the entries of processor 0
                caller 1 counts in on processor 0
                caller 1 looks at the slot again
                caller 1 counts out on processor 1
                the flipper reads the entries of processor 1
                """)
    }
}

extension LeaseModel.Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .load(let caller): "caller \(caller) loads the slot"
        case .countIn(let caller, let processor): "caller \(caller) counts in on processor \(processor)"
        case .recheck(let caller): "caller \(caller) looks at the slot again"
        case .use(let caller): "caller \(caller) uses the cells"
        case .countOut(let caller, let processor): "caller \(caller) counts out on processor \(processor)"
        case .flush(let caller): "what caller \(caller) counted becomes visible"
        case .exchange: "the flipper exchanges the binding"
        case .barrier: "the flipper empties all store buffers"
        case .readLeaves(let processor): "the flipper reads the leaves of processor \(processor)"
        case .readEntries(let processor): "the flipper reads the entries of processor \(processor)"
        }
    }
}
