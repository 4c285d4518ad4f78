import Testing

@testable import Backplane
@testable import BackplaneHost

/// What becomes of an instance that a swap replaces.
@Suite(.timeLimit(.minutes(5)))
struct RetirementTests {
    @Test func `its tasks go on while it is suspended, and are cancelled when it is released without a stop`()
        async throws
    {
        let (states, tell) = AsyncStream.makeStream(of: Bool.self), (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let tasks = ComponentTasks()
        tasks.run {
            for await _ in asked {
                tell.yield(Task.isCancelled)
                break
            }
            try? await Task.sleep(for: .seconds(3_600))
            tell.yield(Task.isCancelled)
        }
        var answers = states.makeAsyncIterator()
        var instance: Instance? = Instance(StandIn(), bodies: [], tasks: tasks, nil)

        try await instance?.component.suspend()
        ask.yield()
        #expect(await answers.next() == false)

        #expect(instance != nil)
        instance = nil
        #expect(await answers.next() == true)
    }

    @Test func `it is asked whether it is well`() async throws {
        let tally = try await ComponentInstance.of(ActorTally.self)
        #expect(tally.hasHealthCheck)
        try await tally.checkHealth()
        try await tally.importText(#"{"words":{"a":1,"b":1,"c":1}}"#)
        #expect(await failure { try await tally.checkHealth() } == BackplaneError(.componentFailed, "Trouble()"))
    }

    @Test func `native calls that fail are counted, cancelled and encoded ones are not`() async throws {
        let tally = try await ComponentInstance.of(Tally.self), wire = tally.wire(Tallying.self)
        #expect(tally.failures == 0)
        for word in ["whale", "fail", "cancel", "fail"] { _ = try? await wire.count(word, Call()) }
        #expect(tally.failures == 2)
        #expect(throws: BackplaneError.self) { try wire.now(Call()) }
        #expect(tally.failures == 3)

        let answer = PendingAnswer()
        let id = Callbacks.expectCall(by: Caller(), 0, answer.reply, hasDeadline: false)
        #""fail""#.withBytes { tally.call(0, $0, Call(), id: id) }
        #expect(await answer.wait {}.status == 1)
        #expect(tally.failures == 3)
    }

    /// Calls, and does not care how it ends.
    private final class Caller: CallOwner {
        func callEnded(_ id: UInt64, status: Int32, hadDeadline: Bool, began: Deadline, _: () -> EncodedAnswer) {}
        func pluginAnswered() {}
    }
}
