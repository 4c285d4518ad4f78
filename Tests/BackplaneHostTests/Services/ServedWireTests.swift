import Backplane
import BackplaneDocuments
import BackplaneTestKit
import CBackplane
import Challenge
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Calls through the host while the gate closes and opens, deadlines pass and callers lose interest, all at once.
@Suite(.timeLimit(.minutes(10)))
struct ServedWireTests {
    private static let countings: [LeaseCounting] = LeaseCounting.best == .atomic ? [.atomic] : [.restartable, .atomic]
    private typealias Gate = BackplaneHost.Gate  // the tests have types of these names
    private typealias Reply = Backplane.Reply

    private final class Counts: Sendable {
        let answers = Mutex<[Int32: Int]>([:])
        var all: Int { answers.withLock { $0.values.reduce(0, +) } }
    }

    @Test(arguments: countings)
    func `Every call is answered once, and no lease is left`(counting: LeaseCounting) async throws {
        var options = HostOptions()
        let clock = TestClock()
        (options.counting, options.clock) = (counting, clock)
        let coordinator = Coordinator(
            ManifestDocument([
                "manifestVersion": 1, "plugins": [], "managers": ["Trial": ["className": "TrialManager"]],
            ]),
            linked: [LinkedPlugin(ChallengePlugin.self)], options)
        let component = try await coordinator.running("Trial"), gate = try await coordinator.gate(of: "Trial")
        let methods = component.calls.methods
        let binding = { @Sendable in Binding(keeping: ServedTarget(component.calls, methods), counting: counting) }
        let wire = ServedWire(gate.makeSlot(number: 3, to: binding()), at: gate, methods: methods, namesErrors: true)
        let wait = try #require(methods.firstIndex { $0.name == "wait" }),
            path = try #require(methods.firstIndex { $0.name == "path" })
        let counts = Counts(), rounds = 500

        await withTaskGroup(of: Void.self) { group in
            for caller in 0..<4 {
                group.addTask { @concurrent in
                    for round in 0..<rounds {
                        let kind = (round &* 7 + caller) % 5
                        let reply = Reply { status, _ in counts.answers.withLock { $0[status, default: 0] += 1 } }
                        var call = Call(within: nil)
                        if kind == 0 { call.deadline = clock.moment + .seconds(1) }
                        let (method, input) = kind == 4 ? (path, "null") : (wait, kind < 3 ? "3600" : "0")
                        let id = Array(input.utf8).withBytes { wire.call(method, $0, call, reply) }
                        if round % 3 == 0 { await Task.yield() }
                        if kind == 1 || kind == 2 { wire.cancel(id) }
                    }
                }
            }
            group.addTask { @concurrent in
                while counts.all < 4 * rounds {
                    gate.hold()
                    clock.advance(by: .seconds(0.5))
                    await Task.yield()
                    gate.open { _, _ in binding() }
                    await Task.yield()
                }
            }
        }

        #expect(counts.all == 4 * rounds)
        #expect(
            counts.answers.withLock { Set($0.keys) }.isSubset(of: [BP_OK, BP_DEADLINE, BP_CANCELLED].map { Int32($0) }))
        await eventually {
            gate.callsInFlight == 0 && gate.callsAside == 0 && gate.callsWaiting == 0
                && component.calls.callsInFlight == 0
        }
        await coordinator.stop()

        let refused = PendingAnswer()
        #expect(Array("0".utf8).withBytes { wire.call(wait, $0, Call(), refused.reply) } == 0)
        let answer = try #require(refused.now)
        #expect(answer.status == BP_RETIRED)
        #expect(answer.error.message.hasPrefix("Trial.wait (org.backplane.tests.challenge): the "))
    }
}
