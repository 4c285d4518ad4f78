import Backplane
import BackplaneDocuments
import BackplaneTestKit
import CBackplane
import Challenge
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Slots that close and open under callers: what waits is let in, refused or given up, and nothing is lost.
@Suite(.timeLimit(.minutes(10)))
struct GateTests {
    private static let countings: [LeaseCounting] = LeaseCounting.best == .atomic ? [.atomic] : [.restartable, .atomic]
    private typealias Gate = BackplaneHost.Gate  // the tests have types of these names
    private typealias Reply = Backplane.Reply
    private let clock = TestClock()

    private struct Adding: Contract {
        static let version: Version = "1.0.0"
        let add = AsyncMethod<Int, Int>()
        let addNow = SyncMethod<Int, Int>()
    }

    /// Answers with its own number added, from a function table such as a plugin's.
    private final class Adder: Sendable {
        let methods = ContractDescription(of: Adding.self).methods
        let own: Int
        let seen = Mutex<[[UInt16]]>([])
        /// Set: calls stay under way until it is resumed.
        let pending = Mutex<[@Sendable () -> Void]?>(nil)

        init(_ own: Int) { self.own = own }

        func call(_ method: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64 {
            seen.withLock { $0.append(call.path) }
            let answer = EncodedAnswer(Array("\((Int(input.text) ?? 0) + own)".utf8))
            let waits = pending.withLock { pending in
                guard !methods[method].isSynchronous, pending != nil else { return false }
                pending?.append { reply.end(answer) }
                return true
            }
            if !waits { reply.end(answer) }
            return 0
        }

        func resume() {
            for resume in pending.withLock({ $0.take() }) ?? [] { resume() }
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    private func binding(_ adder: Adder, _ counting: LeaseCounting) -> Binding {
        let methods = adder.methods.map(bp_method.init)
        let table = bp_provider(
            target: Unmanaged.passRetained(adder).toOpaque(), methods: forever(methods), method_count: methods.count,
            call: { target, method, input, frame, done, context in
                Unmanaged<Adder>.fromOpaque(target).takeUnretainedValue()
                    .call(Int(method), input, Call(frame.pointee), Reply(done, context))
            }, cancel: { _, _ in }, open: { _, _, _, _, _, _, _ in nil }, next: { _, _, _, _ in }, close: { _ in },
            opened: nil, ended: nil)
        return Binding(Cells(Adding.self, calling: EncodedTarget(forever([table])!)), counting: counting)
    }

    @Test(arguments: countings)
    func `A call leases what is in the slot and is counted`(counting: LeaseCounting) async throws {
        let gate = Gate(clock: clock), adder = Adder(1)
        adder.pending.withLock { $0 = [] }
        let wire = Wire<Adding>(gate.makeSlot(number: 7, to: binding(adder, counting)))
        #expect(gate.callsInFlight == 0)
        let call = Task { try await wire.add(1, Call(within: nil)) }
        await eventually { adder.seen.withLock { $0.count } == 1 }
        #expect(gate.callsInFlight == 1)
        adder.resume()
        #expect(try await call.value == 2)
        #expect(gate.callsInFlight == 0)
        #expect(adder.seen.withLock { $0 } == [[7]], "the path ends with who calls")
    }

    @Test(arguments: countings)
    func `Calls in flight finish on what they began on, later ones on the new binding`(
        counting: LeaseCounting
    ) async throws {
        let gate = Gate(clock: clock), old = Adder(1), new = Adder(100)
        old.pending.withLock { $0 = [] }
        let remote = Remote<Adding>(gate.makeSlot(number: 0, to: binding(old, counting)))
        let before = Task { try await remote.add(1) }
        await eventually { old.seen.withLock { $0.count } == 1 }
        gate.hold()
        let waiting = (0..<20).map { number in Task { try await remote.add(number) } }
        await eventually { gate.callsWaiting == 20 }
        #expect(gate.callsInFlight == 1, "those that wait hold nothing")
        #expect(try remote.addNow(5) == 6, "a synchronous call cannot wait, and still gets the old one")
        #expect(gate.callsAside == 0)
        old.resume()
        #expect(try await before.value == 2)
        #expect(gate.callsInFlight == 0)
        gate.open { _, _ in binding(new, counting) }
        for (number, task) in waiting.enumerated() { #expect(try await task.value == number + 100) }
        let after = try (await remote.add(1), remote.addNow(1))
        #expect(after == (101, 101))
        #expect(gate.callsInFlight == 0 && gate.callsWaiting == 0)
    }

    @Test func `A wait ends at its deadline and when it is cancelled`() async throws {
        let gate = Gate(clock: clock), adder = Adder(1)
        let remote = Remote<Adding>(gate.makeSlot(number: 0, to: binding(adder, .atomic)))
        gate.hold()
        var call = Call()
        call.deadline = clock.moment + .farAway
        let late = Task { [call] in try await remote.add(1, call) }
        try await clock.expire(.farAway)
        #expect(await error { try await late.value }?.code == .callDeadline)
        let cancelled = Task { try await remote.add(1) }
        await eventually { gate.callsWaiting == 1 }
        cancelled.cancel()
        #expect(await error { try await cancelled.value }?.code == .callCancelled)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await remote.add(1)
        }
        #expect(
            await error { try await early.value }?.code == .callCancelled, "one that was cancelled before it waited")
        #expect(gate.callsWaiting == 0)
        #expect(adder.seen.withLock { $0 }.isEmpty)
        gate.open { _, _ in binding(adder, .atomic) }
        #expect(try await remote.add(1) == 2)
    }

    @Test(arguments: countings)
    func `A closed gate refuses waiting and later calls, for ever`(counting: LeaseCounting) async throws {
        let gate = Gate(clock: clock), adder = Adder(1), methods = ContractDescription(of: Adding.self).methods
        let remote = Remote<Adding>(gate.makeSlot(number: 0, to: binding(adder, counting), methods: methods))
        gate.lead(to: ("Adder", "org.example.adder")) { .success($1) }
        gate.hold()
        let waiting = (0..<5).map { _ in Task { try await remote.add(1) } }
        await eventually { gate.callsWaiting == 5 }
        gate.close()
        for task in waiting {
            let refused = await error { try await task.value }
            #expect(refused?.code == .callRetired && refused?.calls == ["Adder.add (org.example.adder)"])
        }
        #expect(await error { try await remote.add(1) }?.code == .callRetired)
        #expect(throws: BackplaneError.self) { try remote.addNow(1) }
        gate.open { _, _ in binding(adder, counting) }
        #expect(await error { try await remote.add(1) }?.code == .callRetired, "opening it again does nothing")
        let late = Remote<Adding>(gate.makeSlot(number: 0, to: binding(adder, counting)))
        #expect(await error { try await late.add(1) }?.code == .callRetired)
        #expect(gate.callsInFlight == 0)
    }

    /// A gate that searches for each call among the others does not end in time.
    @Test(.timeLimit(.minutes(1)))
    func `A hundred thousand calls wait, and each one ends`() {
        let gate = Gate(clock: clock), ended = Recording<Bool>()
        let slot = gate.makeSlot(number: 7, to: binding(Adder(1), Self.countings[0]))
        gate.hold()
        var call = Call(within: nil)
        call.deadline = clock.moment + .seconds(60)
        let ids = (0..<100_000).map { _ in gate.wait(at: slot, call) { _ in ended.add(true) } }
        #expect(gate.callsWaiting == 100_000 && clock.pending == 100_000)
        for id in ids.reversed() { gate.cancel(id) }
        #expect(gate.callsWaiting == 0 && clock.pending == 0)
        #expect(ended.all.count == 100_000)
    }

    @Test(arguments: countings)
    func `A slot that is abandoned is closed for good, and the others of its gate are not`(counting: LeaseCounting)
        async throws
    {
        let gate = Gate(clock: clock), adder = Adder(1)
        adder.pending.withLock { $0 = [] }
        let slot = gate.makeSlot(number: 0, to: binding(adder, counting)),
            other = gate.makeSlot(number: 0, to: binding(adder, counting))
        let (remote, kept) = (Remote<Adding>(slot), Remote<Adding>(other))
        let underWay = Task { try await remote.add(1) }
        await eventually { adder.seen.withLock { $0.count } == 1 }
        gate.abandon(slot)
        #expect(await error { try await remote.add(1) }?.code == .callRetired)
        #expect(throws: BackplaneError.self) { try remote.addNow(1) }
        #expect(gate.callsInFlight == 1, "what was under way is still counted")
        adder.resume()
        #expect(try await underWay.value == 2)
        gate.hold()
        gate.open { _, _ in binding(adder, counting) }
        #expect(await error { try await remote.add(1) }?.code == .callRetired, "opening the gate does not open it")
        let sum = try await kept.add(1)
        #expect(sum == 2)
        #expect(gate.callsInFlight == 0)
    }

    @Test(arguments: countings)
    func `A retired binding drains however many callers keep coming`(counting: LeaseCounting) async throws {
        let gate = Gate(clock: clock), adders = [Adder(1), Adder(2)]
        let bindings = adders.map { binding($0, counting) }
        let slot = gate.makeSlot(number: 0, to: bindings[0]), remote = Remote<Adding>(slot), stop = Flag()
        let callers = (0..<3).map { _ in
            Task.detached {
                var wrong = 0
                while !stop.isSet {
                    let answer = try await remote.add(0)
                    if answer != 1 && answer != 2 { wrong += 1 }
                    await Task.yield()
                }
                return wrong
            }
        }
        for round in 1...300 {
            gate.open { _, _ in bindings[round % 2] }
            await eventually { bindings[(round + 1) % 2].callsInFlight == 0 }
            #expect(try await remote.add(0) == round % 2 + 1, "and who comes now is answered by the new one")
        }
        stop.set()
        for caller in callers { #expect(try await caller.value == 0) }
    }

    @Test func `a gate that lets nothing aside refuses synchronous calls while it is held`() async throws {
        let gate = Gate(clock: clock), adder = Adder(1)
        let remote = Remote<Adding>(gate.makeSlot(number: 0, to: binding(adder, .atomic)))
        gate.hold()
        gate.closePassage()
        let refused = await error { try remote.addNow(1) }
        #expect(refused?.code == .callRetired && refused?.message.contains("restarted") == true)
        #expect(adder.seen.withLock { $0 } == [])
        gate.open { _, old in old }
        #expect(try remote.addNow(1) == 2)
    }

    @Test func `one slot can stay closed while the others open, and says why`() async throws {
        let gate = Gate(clock: clock), adder = Adder(1)
        let lucky = gate.makeSlot(number: 1, to: binding(adder, .atomic)),
            other = gate.makeSlot(number: 2, to: binding(adder, .atomic))
        gate.hold()
        gate.open(deciding: { slot, old in
            slot == lucky ? .success(old) : .failure(BackplaneError(.wireMismatch, "another contract"))
        })
        #expect(try await Remote<Adding>(lucky).add(1) == 2)
        #expect(await error { try await Remote<Adding>(other).add(1) }?.message == "another contract")
        #expect(await error { try Remote<Adding>(other).addNow(1) }?.message == "another contract")
        gate.hold()
        gate.open { _, _ in binding(adder, .atomic) }
        #expect(try await Remote<Adding>(other).add(1) == 2)
    }
}

extension BackplaneHost.Gate {
    /// Opens the gate with another binding in every slot, and returns the removed ones.
    @discardableResult
    fileprivate func open(with next: (Slot, Binding) -> Binding) -> Set<Binding> {
        open { .success(next($0, $1)) }.taken
    }

    @discardableResult
    fileprivate func open(deciding next: (Slot, Binding) -> Result<Binding, BackplaneError>) -> Opening {
        lead(next)
        return open()
    }
}

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
