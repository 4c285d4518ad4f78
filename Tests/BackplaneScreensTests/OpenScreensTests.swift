import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneScreens

/// Screens without a host: the test calls what a host would call.
@Suite(.timeLimit(.minutes(5)))
struct `Open screens` {
    private let stage = Stage()
    private let clock = TestClock()
    private let failures = Recording<BackplaneError>()

    private func makeScreens(_ define: (inout ScreenTable) -> Void = { $0.add(Desk.self) }) -> OpenScreens {
        var table = ScreenTable()
        define(&table)
        return OpenScreens(table, StageServices(stage: stage), clock: clock) { [failures] error, _ in
            failures.add(error)
        }
    }

    /// Opens a desk with the number 1, unless another one is given.
    @discardableResult
    private func open(
        _ plan: Desk.Plan = .plain, number: Int = 1, in screens: OpenScreens
    ) async throws -> ScreenDrawing {
        try await screens.open(
            ScreenRequest(number: number, screen: "desk", input: #"{"plan":"\#(plan.rawValue)"}"#))
    }

    private func send(_ id: String, to screens: OpenScreens) async throws -> Int {
        try await screens.handle(ScreenEvent(screen: 1, event: ViewEvent(.press, id)))
    }

    /// Reads the changes of the screen 1 in a task.
    private func read(
        _ screens: OpenScreens, after revision: Int = 1, into changes: Recording<ScreenChange>
    ) -> Task<Void, any Error> {
        Task {
            try await screens.changes(after: ScreenProgress(screen: 1, revision: revision)) { changes.add($0) }
        }
    }

    private func code<Value>(of body: () async throws -> Value) async -> BackplaneError.Code? {
        do {
            _ = try await body()
            return nil
        } catch { return BackplaneError(thrown: error).code }
    }

    // MARK: Opening

    @Test func `a screen is assembled with its input, and drawn`() async throws {
        let drawing = try await open(in: makeScreens())
        #expect(drawing == ScreenDrawing(revision: 1, title: "Desk", body: [Text("a 0").view]))
    }

    @Test func `a screen that cannot be assembled is not open`() async throws {
        let screens = makeScreens()
        #expect(await code { try await open(.throwing, in: screens) } == .componentFailed)
        #expect(await code { try await send("add", to: screens) } == .screenClosed)
        let agent = try await stage.agents.first(1)[0]
        #expect(await code { try await agent.dismiss() } == .screenClosed)
    }

    @Test func `an unknown identifier, and an input of another form, are errors`() async {
        let screens = makeScreens()
        #expect(
            await code { try await screens.open(ScreenRequest(number: 1, screen: "lamp", input: "null")) }
                == .screenUnknown)
        let invalid = await error { try await screens.open(ScreenRequest(number: 1, screen: "desk", input: "{}")) }
        #expect(invalid?.code == .screenInvalidInput)
        #expect(invalid?.message == "the input of the screen `desk` does not have the expected form: `plan` is missing")
    }

    @Test func `a screen that is closed while it is assembled is not shown`() async throws {
        let screens = makeScreens()
        let opening = Task { try await open(.waiting, in: screens) }
        try await stage.gate.arrivals()
        screens.close(1)
        stage.gate.open()
        #expect(await code { try await opening.value } == .screenClosed)
        _ = try await stage.log.first { $0 == "released" }
    }

    @Test func `an opening that is cancelled leaves no screen`() async throws {
        let screens = makeScreens()
        let opening = Task { try await open(.waiting, in: screens) }
        try await stage.gate.arrivals()
        opening.cancel()
        #expect(await code { try await opening.value } == .callCancelled)
        #expect(await code { try await send("add", to: screens) } == .screenClosed)
    }

    // MARK: Events and drawings

    @Test func `after an event the body is read once, and the same body keeps its revision`() async throws {
        let screens = makeScreens()
        try await open(in: screens)
        #expect(try await send("nothing", to: screens) == 1)
        #expect(try await send("add", to: screens) == 2)
        #expect(try await send("nothing", to: screens) == 2)
        #expect(stage.readings.all.count == 4)
    }

    @Test func `an event that fails is an error, and what it has changed is drawn`() async throws {
        let screens = makeScreens(), changes = Recording<ScreenChange>()
        try await open(in: screens)
        let reading = read(screens, into: changes)
        #expect(await code { try await send("fail", to: screens) } == .componentFailed)
        #expect(try await changes.first(1)[0].drawing?.body == [Text("a 1").view])
        screens.close(1)
        try await reading.value
    }

    @Test func `requests to redraw have one effect until the pause is over`() async throws {
        let screens = makeScreens()
        try await open(in: screens)
        let agent = try await stage.agents.first(1)[0]
        agent.redraw()
        try await clock.sleepers()
        #expect(stage.readings.all.count == 2)
        for _ in 0..<1_000 { agent.redraw() }
        #expect(stage.readings.all.count == 2)
        try await clock.expire(OpenScreen.pause)
        _ = try await stage.readings.first(3)
        try await clock.expire(OpenScreen.pause)
        // An event does not wait for the pause, and nothing else has been read.
        #expect(try await send("add", to: screens) == 2)
        #expect(stage.readings.all.count == 4)
    }

    @Test func `a request during a reading leads to another one`() async throws {
        let screens = makeScreens(), changes = Recording<ScreenChange>()
        try await open(in: screens)
        let agent = try await stage.agents.first(1)[0], reading = read(screens, into: changes)
        stage.isHeld.store(true, ordering: .relaxed)
        agent.redraw()
        try await stage.gate.arrivals()
        stage.text.withLock { $0 = "b" }
        agent.redraw()
        stage.gate.open()
        try await clock.expire(OpenScreen.pause)
        let drawing = try await changes.first { $0.drawing?.body == [Text("b 0").view] }
        #expect(drawing.drawing?.title == "Desk")
        screens.close(1)
        try await reading.value
    }

    @Test func `one body is read at a time`() async throws {
        let screens = makeScreens()
        try await open(in: screens)
        stage.isHeld.store(true, ordering: .relaxed)
        let first = Task { try await send("add", to: screens) }
        try await stage.gate.arrivals()
        let second = Task { try await send("add", to: screens) }
        _ = try await stage.log.until { $0.count { $0 == "add" } == 2 }
        #expect(stage.readings.all.count == 2)
        stage.gate.open()
        #expect(try await first.value == 2)
        #expect(try await second.value == 3)
    }

    // MARK: Views that are not valid

    @Test func `a screen with an invalid view is not opened, and an event must not lead to one`() async throws {
        let screens = makeScreens()
        stage.text.withLock { $0 = "invalid" }
        #expect(await code { try await open(in: screens) } == .screenInvalidView)
        stage.text.withLock { $0 = "a" }
        try await open(in: screens)
        stage.text.withLock { $0 = "invalid" }
        #expect(await code { try await send("nothing", to: screens) } == .screenInvalidView)
        stage.text.withLock { $0 = "a" }
        #expect(try await send("nothing", to: screens) == 1)
    }

    @Test func `a redrawing with an invalid view is logged once, and the drawing remains`() async throws {
        let screens = makeScreens(), changes = Recording<ScreenChange>()
        try await open(in: screens)
        let agent = try await stage.agents.first(1)[0], reading = read(screens, into: changes)
        stage.text.withLock { $0 = "invalid" }
        for count in 2...4 {
            agent.redraw()
            _ = try await stage.readings.first(count)
            try await clock.expire(OpenScreen.pause)
        }
        #expect(failures.all.map(\.code) == [.screenInvalidView])
        stage.text.withLock { $0 = "b" }
        #expect(try await send("nothing", to: screens) == 2)
        #expect(try await changes.first(1)[0].drawing?.revision == 2)
        screens.close(1)
        try await reading.value
    }

    // MARK: Changes

    @Test func `a reader gets the newest drawing, and every segue and dismissal in order`() async throws {
        let screens = makeScreens(), changes = Recording<ScreenChange>()
        try await open(in: screens)
        let agent = try await stage.agents.first(1)[0], reading = read(screens, into: changes)
        #expect(try await send("add", to: screens) == 2)
        let shown = Task { try await agent.performSegue(to: "lamp", data: ["colour": "red"]) }
        let segue = try await changes.first { $0.segue != nil }
        let dismissed = Task { try await agent.dismiss() }
        _ = try await changes.first { $0.dismissal != nil }
        #expect(segue.segue?.destination.screen == "lamp")
        #expect(segue.segue?.destination.input == #"{"colour":"red"}"#)
        #expect(try await send("add", to: screens) == 5)
        #expect(try await send("add", to: screens) == 6)

        // Another reader continues where it is told to, and the first one ends.
        let others = Recording<ScreenChange>(), other = read(screens, after: 1, into: others)
        #expect(try await others.first(3).map(\.number) == [3, 4, 6])
        try await reading.value
        #expect(changes.all.prefix(3).map(\.number) == [2, 3, 4])

        screens.end(SegueEnd(screen: 1, segue: 4))
        screens.end(SegueEnd(screen: 1, segue: 3))
        try await dismissed.value
        try await shown.value
        // What has ended is not repeated.
        let last = Recording<ScreenChange>(), lastReader = read(screens, after: 1, into: last)
        #expect(try await last.first(1).map(\.number) == [6])
        try await other.value
        screens.close(1)
        try await lastReader.value
    }

    @Test func `a segue ends with the error that the host reports`() async throws {
        let screens = makeScreens(), changes = Recording<ScreenChange>()
        try await open(in: screens)
        let agent = try await stage.agents.first(1)[0], reading = read(screens, into: changes)
        let segue = Task { try await agent.performSegue(to: "lamp") }
        let number = try await changes.first(1)[0].number
        // Ends of other segues change nothing.
        screens.end(SegueEnd(screen: 1, segue: number + 1, error: .screenClosed))
        screens.end(SegueEnd(screen: 9, segue: number, error: .screenClosed))
        screens.end(SegueEnd(screen: 1, segue: number, error: BackplaneError(.screenUnknown, "no lamp")))
        #expect(await code { try await segue.value } == .screenUnknown)
        screens.close(1)
        try await reading.value
    }

    @Test(arguments: [false, true])
    func `what is requested during the assembly returns at once, and begins after the first drawing`(
        isDismissal: Bool
    ) async throws {
        let screens = makeScreens(), changes = Recording<ScreenChange>()
        let drawing = try await open(isDismissal ? .leaving : .leading, in: screens)
        #expect(drawing.revision == 1 && stage.log.all == [isDismissal ? "left" : "led"])
        let reading = read(screens, into: changes), change = try await changes.first(1)[0]
        #expect(change.number > drawing.revision && (change.dismissal != nil) == isDismissal)
        #expect(change.segue?.destination.screen == (isDismissal ? nil : "lamp"))
        screens.end(SegueEnd(screen: 1, segue: change.number))
        screens.close(1)
        try await reading.value
    }

    @Test func `a cancelled task does not wait for its segue`() async throws {
        let screens = makeScreens(), changes = Recording<ScreenChange>()
        try await open(in: screens)
        let agent = try await stage.agents.first(1)[0], reading = read(screens, into: changes)
        let segue = Task { try await agent.performSegue(to: "lamp") }
        _ = try await changes.first(1)
        segue.cancel()
        #expect(await code { try await segue.value } == .callCancelled)
        reading.cancel()
        try await reading.value
    }

    // MARK: The end

    @Test func `the agent of a closed screen can do nothing`() async throws {
        let screens = makeScreens(), changes = Recording<ScreenChange>()
        try await open(in: screens)
        let agent = try await stage.agents.first(1)[0], reading = read(screens, into: changes)
        let segue = Task { try await agent.performSegue(to: "lamp") }
        let dismissal = Task { try await agent.dismiss() }
        _ = try await changes.first(2)
        screens.close(1)
        #expect(await code { try await segue.value } == .screenClosed)
        // The screen is no longer shown, as it wanted.
        try await dismissal.value
        try await reading.value

        #expect(await code { try await agent.performSegue(to: "lamp") } == .screenClosed)
        #expect(await code { try await agent.dismiss() } == .screenClosed)
        #expect(await code { try await agent.resolve(Screens.self) } == .screenClosed)
        #expect(await code { try agent.resolve(service: Stage.self) } == .screenClosed)
        agent.redraw()
        #expect(stage.readings.all.count == 1)
        #expect(await code { try await send("add", to: screens) } == .screenClosed)
        #expect(
            await code { try await screens.changes(after: ScreenProgress(screen: 1, revision: 1)) { _ in } }
                == .screenClosed)
    }

    @Test func `a screen that dismisses itself in an event has handled it`() async throws {
        let screens = makeScreens(), changes = Recording<ScreenChange>()
        try await open(in: screens)
        let reading = read(screens, into: changes)
        let event = Task { try await send("dismiss", to: screens) }
        _ = try await changes.first { $0.dismissal != nil }
        screens.close(1)
        #expect(try await event.value == 1)
        try await reading.value
    }

    @Test func `closed screens are released, and so are those of screens that are released`() async throws {
        var screens: OpenScreens? = makeScreens()
        try await open(in: try #require(screens))
        try await open(number: 2, in: try #require(screens))
        screens?.close(1)
        _ = try await stage.log.until { $0 == ["released"] }
        screens = nil
        _ = try await stage.log.until { $0 == ["released", "released"] }
        for agent in stage.agents.all { #expect(await code { try await agent.dismiss() } == .screenClosed) }
    }

    // MARK: Swaps

    /// Returns what is kept of the screens, after its way through JSON.
    private func kept(of screens: OpenScreens) async throws -> KeptScreens {
        try JSON.decode(KeptScreens.self, encoded(try await screens.kept()), failing: .stateIncompatible)
    }

    private func encoded(_ state: KeptScreens) throws -> [UInt8] {
        try JSON.encodeSorted(state, failing: .stateIncompatible)
    }

    private func restore(_ state: KeptScreens, in screens: OpenScreens) async throws {
        try screens.take(state)
        try await screens.activate()
    }

    @Test func `the screens are assembled again at their places, and their readers continue`() async throws {
        let old = makeScreens(), new = makeScreens(), changes = Recording<ScreenChange>()
        try await open(.leading, in: old)
        try await open(number: 2, in: old)
        let revision = try await send("add", to: old)
        let state = try await kept(of: old)
        // The old code may go on until the new one takes over.
        let later = try await send("add", to: old)
        #expect(later > revision)
        try await restore(state, in: new)
        let reading = read(new, after: later, into: changes)
        let drawing = try #require(try await changes.first(1)[0].drawing)
        #expect(drawing.body == [Text("a 1").view])
        #expect(drawing.revision > later)
        // The segue of the assembly is not repeated, so that the next change is this one.
        let next = try await send("add", to: new)
        #expect(try await changes.first(2)[1].drawing?.revision == next)
        #expect(try await kept(of: new).screens.map(\.number) == [1, 2])
        new.close(1)
        try await reading.value
        new.closeAll()
    }

    @Test func `one screen that cannot be assembled again keeps all from it`() async throws {
        let old = makeScreens {
            $0.add(Desk.self)
            $0.add(Desk.self, as: "lamp")
        }
        try await open(in: old)
        _ = try await old.open(ScreenRequest(number: 2, screen: "lamp", input: #"{"plan":"plain"}"#))
        let new = makeScreens(), state = try await kept(of: old)
        let thrown = await #expect(throws: BackplaneError.self) { try await restore(state, in: new) }
        #expect(thrown?.code == .screenUnknown)
        #expect(thrown?.message == "the open screen `lamp` cannot be assembled again: there is no screen `lamp`")
        #expect(await code { try await send("add", to: new) } == .screenClosed)
        // The old code goes on.
        #expect(try await send("add", to: old) == 2)
    }

    @Test func `screens that are imported twice exist once`() async throws {
        let old = makeScreens(), new = makeScreens()
        try await open(in: old)
        let state = try await kept(of: old)
        try new.take(state)
        try await restore(state, in: new)
        #expect(stage.agents.all.count == 2)
        #expect(try await kept(of: new).screens.map(\.number) == [1])
        #expect(try await send("add", to: old) == 2)
        // There are none left.
        try await new.activate()
        #expect(stage.agents.all.count == 2)
    }

    @Test func `screens are exported as they were imported until they are assembled, and are not used`() async throws {
        let old = makeScreens(), new = makeScreens()
        try await open(in: old)
        _ = try await send("add", to: old)
        let state = try await kept(of: old)
        try new.take(state)
        let again = try await kept(of: new)
        #expect(try encoded(again) == encoded(state))
        #expect(stage.agents.all.count == 1)
        let thrown = await #expect(throws: BackplaneError.self) { try await send("add", to: new) }
        #expect(thrown?.code == .screenNotAssembled)
        #expect(thrown?.message.contains("call `screens.activate()`") == true)
        #expect(await code { try await read(new, into: Recording()).value } == .screenNotAssembled)
        new.close(1)
        try await new.activate()
        #expect(try await kept(of: new).screens.isEmpty)
        #expect(stage.agents.all.count == 1)
    }

    @Test func `each swap has higher numbers, also when nothing has changed between two`() async throws {
        var screens = makeScreens(), last = try await open(in: screens).revision
        for word in ["b", "c"] {
            let next = makeScreens(), changes = Recording<ScreenChange>()
            stage.text.withLock { $0 = word }
            try await restore(try await kept(of: screens), in: next)
            let reading = read(next, after: last, into: changes)
            let drawing = try #require(try await changes.first(1)[0].drawing)
            #expect(drawing.revision > last && drawing.body == [Text("\(word) 0").view])
            reading.cancel()
            try await reading.value
            (screens, last) = (next, drawing.revision)
        }
        screens.closeAll()
    }

    @Test func `numbers that cannot be continued are refused`() async throws {
        let old = makeScreens(), new = makeScreens()
        try await open(in: old)
        var state = try await kept(of: old)
        state.screens[0].latest = .max
        let thrown = await #expect(throws: BackplaneError.self) { try await restore(state, in: new) }
        #expect(thrown?.code == .stateIncompatible)
        #expect(thrown?.message.hasPrefix("the latest change of the open screen `desk` has the number 9223") == true)
        #expect(await code { try await read(old, after: .max, into: Recording()).value } == .callInvalidInput)
        #expect(try await send("add", to: old) == 2)
    }

    @Test func `after a rollback without state, the old code goes on above the numbers of the new one`() async throws {
        let screens = makeScreens(), changes = Recording<ScreenChange>(), number = 0x100001
        try await open(in: screens)
        let agent = try await stage.agents.first(1)[0], first = read(screens, into: changes)
        let performed = Task { await code { try await agent.performSegue(to: "lamp") } }
        #expect(try await changes.first(1).map(\.number) == [2])
        first.cancel()
        try await first.value
        let pending = Task { try await agent.performSegue(to: "shade") }
        while try await kept(of: screens).screens[0].latest < 3 { await Task.yield() }
        // Meanwhile the window has read changes of the new code, which it has told of the end of the first segue.
        let later = Recording<ScreenChange>(), reading = read(screens, after: number, into: later)
        #expect(await performed.value == .callCancelled)
        let all = try await later.first(2)
        #expect(all.map(\.number) == [number + 1, number + 2])
        #expect(all[0].drawing?.body == [Text("a 0").view] && all[1].segue?.destination.screen == "shade")
        screens.end(SegueEnd(screen: 1, segue: number + 2))
        try await pending.value
        #expect(try await send("add", to: screens) == number + 3)
        #expect(try await later.first(3)[2].drawing?.body == [Text("a 1").view])
        #expect(try await kept(of: screens).screens.map(\.latest) == [number + 3])
        screens.close(1)
        try await reading.value
    }
}

/// What the screens of a test share with it.
private final class Stage: Sendable {
    let agents = Recording<Agent>()
    let readings = Recording<String>()
    let log = Recording<String>()
    /// The text that every desk shows; `invalid` for views that are not.
    let text = Mutex("a")
    let gate = TestGate()
    /// A Boolean value that indicates whether each reading of a body waits at the gate.
    let isHeld = Atomic(false)
}

private struct StageServices: ScreenServices {
    let stage: Stage

    func begin() -> Call { Call() }

    func resolve<C: Contract>(_ type: C.Type, where isWanted: (ManagerDescription) -> Bool)
        async throws(BackplaneError) -> Wire<C>
    {
        throw BackplaneError(.unknownManager, "there are no managers")
    }

    func resolve<Service>(service type: Service.Type, where isWanted: (Service) -> Bool)
        throws(BackplaneError) -> Service
    {
        guard let service = stage as? Service, isWanted(service) else {
            throw BackplaneError(.unknownManager, "there are no other services")
        }
        return service
    }
}

private actor Desk: Screen {
    enum Plan: String, Codable, Sendable {
        case plain, waiting, throwing, leading, leaving
    }
    struct Input: Codable, Sendable {
        var plan: Plan
    }
    private struct Broken: Error {}
    static let identifier = "desk"
    private let stage: Stage
    private let agent: Agent
    private(set) var position = 0

    init(_ stage: Stage, _ agent: Agent) { (self.stage, self.agent) = (stage, agent) }

    deinit { stage.log.add("released") }

    static func assemble(with input: Input, agent: Agent) async throws -> Desk {
        let stage = try agent.resolve(service: Stage.self)
        stage.agents.add(agent)
        switch input.plan {
        case .plain: break
        case .waiting: try await stage.gate.pass()
        case .throwing: throw Broken()
        case .leading:
            try await agent.performSegue(to: "lamp")
            stage.log.add("led")
        case .leaving:
            try await agent.dismiss()
            stage.log.add("left")
        }
        return Desk(stage, agent)
    }

    var title: String { "Desk" }

    var body: [View] {
        get async {
            let text = stage.text.withLock(\.self)
            let texts = text == "invalid" ? [Text("").id("x"), Text("").id("x")] : [Text("\(text) \(position)").view]
            stage.readings.add(text)
            if stage.isHeld.load(ordering: .relaxed) { try? await stage.gate.pass() }
            return texts
        }
    }

    func handle(_ event: ViewEvent) async throws {
        stage.log.add(event.id)
        switch event.id {
        case "add": position += 1
        case "dismiss": try await agent.dismiss()
        case "fail":
            position += 1
            throw Broken()
        default: break
        }
    }

    func resume(at position: Int) { self.position = position }
}
