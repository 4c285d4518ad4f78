import Foundation
import Synchronization
import Testing

@testable import Backplane
@testable import BackplaneHost

/// What a component says of itself for swaps, and what the host reads of it.
struct StateSchemaTests {
    @Test func `a component is described with its traits and its state`() throws {
        let description = try ComponentClass.registered(ActorTally.self).description
        #expect(description.isExclusive && description.restartsOnSwap)
        #expect(description.state == StateDescription(schema: "Tally", version: 1, accepts: 1...1, writes: 1...1))
        #expect(
            try ComponentClass.registered(NewTally.self).description.state
                == StateDescription(schema: "Tally", version: 3, accepts: 0...3, writes: 1...3))
    }

    @Test func `one that says nothing has neither`() throws {
        let description = try ComponentClass.registered(Stateless.self).description
        #expect(!description.isExclusive && !description.restartsOnSwap)
        #expect(description.state == nil)
    }

    @Test func `state is found where only a component is known, and under another name`() throws {
        func add<C: Component>(_ type: C.Type, to registrar: inout Registrar) where C.Context.Owner == C {
            registrar.add(type, named: "Other")
        }
        var registrar = Registrar(services: HostServices { _, _ in nil }, pluginVersion: "1.0.0")
        add(Tally.self, to: &registrar)
        #expect(registrar.records.map(\.description.className) == ["Other"])
        #expect(registrar.records[0].description.state?.schema == "Tally")
    }

    @Test(arguments: [
        (StateSchema(name: "s", version: 2, accepts: 3...4), "accepts 3 to 4, but not its own version 2"),
        (StateSchema(name: "s", version: 2, accepts: 0...1), "accepts 0 to 1, but not its own version 2"),
        (
            StateSchema(name: "s", version: 2, writes: 3),
            "declares 3 as the oldest version it writes, which is later than its own version 2"
        ),
        (StateSchema(name: "s", version: -1), "has a version -1, expected 0 to 4294967295"),
        (StateSchema(name: "s", version: 0, accepts: -2...0), "has a version -2, expected 0 to 4294967295"),
        (
            StateSchema(name: "s", version: 1, writes: .min),
            "has a version -9223372036854775808, expected 0 to 4294967295"
        ),
        (StateSchema(name: "s", version: 4_294_967_296), "has a version 4294967296, expected 0 to 4294967295"),
        (
            StateSchema(name: "s", version: 1, accepts: 1...Int.max),
            "has a version 9223372036854775807, expected 0 to 4294967295"
        ),
    ])
    func `versions that do not fit together are a problem of the plugin`(schema: StateSchema, says: String) {
        let error = #expect(throws: BackplaneError.self) { try schema.description(of: "Odd") }
        #expect(error == BackplaneError(.pluginInvalidAnswer, "Odd: the schema `s` of its state \(says)"))
    }

    final class Odd: Manager, StatefulComponent {
        struct State: Codable {}
        static let stateSchema = StateSchema(version: 2, accepts: 0...1)
        init(_ context: Context) {}
        func exportState() -> State { State() }
        func importState(_ state: State) {}
    }
}

/// State as it goes from one instance to another, by the functions that a host calls.
@Suite(.timeLimit(.minutes(5)))
struct StateTransferTests {
    @Test func `what one instance exported another takes over, a class and an actor alike`() async throws {
        let old = try await ComponentInstance.of(Tally.self)
        let wire = old.wire(Tallying.self)
        for word in ["whale", "ship", "whale"] { _ = try await wire.count(word, Call()) }
        try await old.suspend()
        let state = try await old.exportText()

        let new = try await ComponentInstance.of(ActorTally.self)
        try await new.importText(state)
        #expect(try await new.wire(Tallying.self).count("ship", Call()) == 4)
    }

    @Test func `state of older versions is migrated up, each from what it was`() async throws {
        let tally = try await ComponentInstance.of(NewTally.self)
        try await tally.importText(#"{"words":{"whale":2}}"#, version: 1)
        #expect(try await tally.exportText(version: 3) == #"{"list":["whale","whale"]}"#)
        try await tally.importText(#"["ship"]"#, version: 2)
        #expect(try await tally.exportText(version: 3) == #"{"list":["ship"]}"#)
    }

    @Test func `state is migrated down for code of an older version`() async throws {
        let new = try await ComponentInstance.of(NewTally.self), old = try await ComponentInstance.of(Tally.self)
        try await new.importText(#"{"list":["whale","whale"]}"#, version: 3)
        try await old.importText(try await new.exportText(version: 1))
        #expect(try await old.wire(Tallying.self).count("whale", Call()) == 3)
    }

    @Test func `a migration can be tried with a state that was made for it`() throws {
        let old = try StoredState(encoding: Tally.State(words: ["whale": 1]))
        #expect(try NewTally.migrateUp(old, from: 1).list == ["whale"])
        #expect(try old.decode(Tally.State.self) == Tally.State(words: ["whale": 1]))
    }

    // MARK: What goes wrong

    @Test func `what is no state is refused with its class, its schema and the place`() async throws {
        let tally = try await ComponentInstance.of(Tally.self)
        let error = try #require(await failure { try await tally.importText(#"{"words":{"whale":"two"}}"#) })
        #expect(error.code == .stateIncompatible)
        #expect(error.location == "/words/whale")
        #expect(
            error.message.hasPrefix(
                "Tally: the data received as its state `Tally` 1 cannot be decoded: expected an integer"),
            "\(error)")
        #expect(error.message.contains("raise `version` and write `migrateUp`: `static let stateSchema = StateSchema("))
        #expect(error.message.contains("version: 2, accepts: 1...2)` and `static func migrateUp("))
        #expect(!error.message.contains("\n"))
        #expect(try await tally.exportText() == #"{"words":{}}"#, "it is as it was")
    }

    @Test func `a version that the schema does not have is refused, either way`() async throws {
        let tally = try await ComponentInstance.of(NewTally.self)
        let read = await failure { try await tally.importText("[]", version: 4) }
        #expect(
            read
                == BackplaneError(
                    .stateIncompatible,
                    "NewTally was asked to read its state `Tally` in version 4, but it accepts 0 to 3"))
        let written = await failure { _ = try await tally.exportText(version: 0) }
        #expect(
            written
                == BackplaneError(
                    .stateIncompatible,
                    "NewTally was asked to write its state `Tally` in version 0, but it writes 1 to 3"))
        let beyond = await failure { try await tally.importText("[]", version: .max) }
        #expect(beyond?.code == .stateIncompatible)
    }

    @Test func `a migration that throws says what it was to do`() async throws {
        let tally = try await ComponentInstance.of(NewTally.self)
        let up = await failure { try await tally.importText("[]", version: 0) }
        #expect(up?.message == "NewTally: a state `Tally` 0 cannot be migrated to 3: Trouble()")
        let unlike = await failure { try await tally.importText("[1]", version: 2) }
        #expect(unlike?.code == .stateIncompatible && unlike?.location == "/0", "\(String(describing: unlike))")
        let down = await failure { _ = try await tally.exportText(version: 2) }
        #expect(down?.message == "NewTally: its state `Tally` 3 cannot be migrated to 2: Trouble()")
    }

    @Test func `a migration that is promised and missing is an error that names it`() async throws {
        let boaster = try await ComponentInstance.of(MissingMigrations.self)
        for version in [1, 3] as [UInt32] {
            let error = await failure { try await boaster.importText("{}", version: version) }
            #expect(error?.code == .stateIncompatible)
            #expect(
                error?.message.contains(
                    "MissingMigrations accepts its state `levels` in version \(version), but has no `migrateUp(_:from:)`"
                ) == true)
        }
        let error = await failure { _ = try await boaster.exportText(version: 1) }
        #expect(error?.code == .stateIncompatible)
        #expect(error?.message.contains("has no `migrateDown(_:to:)`") == true)
    }

    @Test func `a component without state has none to give`() async throws {
        let stateless = try await ComponentInstance.of(Stateless.self)
        #expect(await failure { _ = try await stateless.exportText() }?.code == .callUnimplemented)
        #expect(await failure { try await stateless.importText("{}") }?.code == .callUnimplemented)
    }
}

/// State as a Swift value, by the functions that a host calls.
@Suite(.timeLimit(.minutes(5)))
struct StateValueTests {
    /// The values that a test's values were exported as, and those that were freed.
    final class ExportedValues: Sendable {
        private static let all = Mutex<[ExportedValues]>([])
        private let counts = Mutex((made: 0, freed: 0))
        let step = Mutex<@Sendable () async throws -> Void>({})

        /// Those of the values that are created next.
        static func begin() -> ExportedValues {
            let values = ExportedValues()
            all.withLock { $0.append(values) }
            return values
        }
        static var newest: ExportedValues { all.withLock { $0.last } ?? ExportedValues() }

        var made: Int { counts.withLock(\.made) }
        var freed: Int { counts.withLock(\.freed) }

        /// A value that counts when its last copy is gone.
        func make() -> Data {
            counts.withLock { $0.made += 1 }
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 4_096, alignment: 16)
            memset(bytes, 7, 4_096)
            return Data(
                bytesNoCopy: bytes, count: 4_096,
                deallocator: .custom { bytes, _ in
                    bytes.deallocate()
                    self.counts.withLock { $0.freed += 1 }
                })
        }
    }

    /// A component whose every export is another value, of which an import keeps a copy.
    private final class ExportingManager: Manager, StatefulComponent {
        struct State: Codable { var data: Data }
        private let values = ExportedValues.newest
        let received = Mutex<[UInt8]>([])

        init(_ context: Context) {}
        func exportState() async throws -> State {
            try await values.step.withLock(\.self)()
            return State(data: values.make())
        }
        func importState(_ state: State) async throws {
            try await values.step.withLock(\.self)()
            received.withLock { $0 = Array(state.data) }
        }
    }

    @Test func `another instance takes the value over, and changes a copy`() async throws {
        let old = try await ComponentInstance.of(Tally.self), new = try await ComponentInstance.of(Tally.self)
        let before = old.wire(Tallying.self), after = new.wire(Tallying.self)
        for word in ["whale", "ship", "whale"] { _ = try await before.count(word, Call()) }
        let value = try await old.exportValue({ _ in })
        for _ in 0..<2 { try await new.importValue(value, { _ in }) }
        #expect(try await after.count("ship", Call()) == 4)
        #expect(try await before.count("whale", Call()) == 4, "what the new one adds is its own")
        #expect(try await new.exportText() == #"{"words":{"ship":2,"whale":2}}"#)
        #expect(try await old.exportText() == #"{"words":{"ship":1,"whale":3}}"#)
        try await new.importValue(value, { _ in })
        #expect(try await new.exportText() == #"{"words":{"ship":1,"whale":2}}"#, "the value is as it was exported")
    }

    @Test func `a component without state has no value either`() async throws {
        let stateless = try await ComponentInstance.of(Stateless.self)
        #expect(try ComponentClass.registered(Stateless.self).stateSide == nil)
        #expect(await failure { _ = try await stateless.exportValue({ _ in }) }?.code == .callUnimplemented)
        let value = try await ComponentInstance.of(Tally.self).exportValue({ _ in })
        #expect(await failure { try await stateless.importValue(value, { _ in }) }?.code == .callUnimplemented)
    }

    @Test func `the layout of a state is that of its type`() throws {
        let side = try #require(try ComponentClass.registered(Tally.self).stateSide)
        #expect(side.layout.read() == LayoutReader.layout(ofState: Tally.State.self))
        #expect(side.layout.read()?.hasPrefix("state: #0=struct ") == true)
        #expect(side.state.schema == "Tally" && side.origin.revision == LaneOrigin.program.revision)
    }
}

/// A value that was exported is freed once, whatever becomes of it.
extension StateValueTests {
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct Release {
        private let values = ExportedValues.begin()

        /// Waits until so many were freed; a step may end a little later than its answer came.
        private func freed(_ count: Int) async {
            while values.freed < count { await Task.yield() }
            #expect(values.freed == count)
        }

        @Test func `by whoever gives it up, imported or not`() async throws {
            let old = try await ComponentInstance.of(ExportingManager.self)
            let new = try await ComponentInstance.of(ExportingManager.self)
            for count in 0..<3 {
                let value = try await old.exportValue({ _ in })
                for _ in 0..<count { try await new.importValue(value, { _ in }) }
                await freed(count)
                #expect(values.made == count + 1)
                withExtendedLifetime(value) {}
            }
            await freed(3)
            #expect(values.made == 3)
        }

        @Test func `not at all, when the export throws`() async throws {
            let old = try await ComponentInstance.of(ExportingManager.self)
            values.step.withLock { $0 = { throw Trouble() } }
            #expect(await failure { _ = try await old.exportValue({ _ in }) } != nil)
            #expect(values.made == 0 && values.freed == 0)
        }

        @Test func `when it comes after the host has given up, and when an import ends later than its host waits`()
            async throws
        {
            let late = BackplaneError(.callDeadline, "given up")
            let old = try await ComponentInstance.of(ExportingManager.self)
            let new = try await ComponentInstance.of(ExportingManager.self)
            let numbers = Mutex<[UInt64]>([])
            // In the middle of the step, the host ends its wait.
            values.step.withLock { $0 = { Callbacks.end(numbers.withLock { $0.removeLast() }, EncodedAnswer(late)) } }
            let export = await failure {
                _ = try await old.exportValue({ number in numbers.withLock { $0.append(number) } })
            }
            #expect(export == late)
            await freed(1)
            #expect(values.made == 1)

            values.step.withLock { $0 = {} }
            do {
                let value = try await old.exportValue({ _ in })
                values.step.withLock {
                    $0 = { Callbacks.end(numbers.withLock { $0.removeLast() }, EncodedAnswer(late)) }
                }
                let taken = await failure {
                    try await new.importValue(value, { number in numbers.withLock { $0.append(number) } })
                }
                #expect(taken == late)
            }
            await freed(2)
            #expect(values.made == 2)
        }
    }
}

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

struct Tallying: Contract {
    static let version: Version = "1.0.0"
    let count = AsyncMethod<String, Int>()
    let now = SyncMethod<Nothing, Int>()
}

struct Trouble: Error {}

/// What all versions of the tally count with; `cancel` is a word that cancels, `fail` one that fails.
final class Counter: Sendable {
    private let words = Mutex<[String: Int]>([:])

    var all: [String: Int] { words.withLock { $0 } }
    func set(_ new: [String: Int]) { words.withLock { $0 = new } }

    func add(_ word: String) throws -> Int {
        if word == "fail" { throw Trouble() }
        if word == "cancel" { throw CancellationError() }
        return words.withLock { words in
            words[word, default: 0] += 1
            return words.values.reduce(0, +)
        }
    }
}

/// Its state is all that a stateful component has to say.
final class Tally: Manager, StatefulComponent {
    typealias Provides = Tallying
    struct State: Codable, Equatable { var words: [String: Int] }
    let counter = Counter()

    init(_ context: Context) {}
    func exportState() -> State { State(words: counter.all) }
    func importState(_ state: State) { counter.set(state.words) }

    static func methods(_ table: inout Methods) {
        table.async(\.count) { tally, word, _ in try tally.counter.add(word) }
        table.sync(\.now) { tally, _, _ in try tally.counter.add("fail") }
    }
}

/// The same as an actor, which is exclusive, is recreated after swaps, and is unwell with more than two words.
actor ActorTally: Manager, StatefulComponent {
    typealias Provides = Tallying
    struct State: Codable { var words: [String: Int] }
    static let className = "Tally"
    static let isExclusive = true
    static let restartOnSwap = true
    private var words: [String: Int] = [:]

    init(_ context: Context) {}
    func exportState() -> State { State(words: words) }
    func importState(_ state: State) { words = state.words }
    func health() throws { if words.count > 2 { throw Trouble() } }
    private func add(_ word: String) -> Int {
        words[word, default: 0] += 1
        return words.values.reduce(0, +)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.count) { tally, word, _ in await tally.add(word) }
        table.sync(\.now) { _, _, _ in 0 }
    }
}

/// Its next version: it keeps a list of words, reads what came before, and writes the previous one.
final class NewTally: Manager, StatefulComponent {
    struct State: Codable { var list: [String] }
    static let stateSchema = StateSchema(name: "Tally", version: 3, accepts: 0...3, writes: 1)
    private let list = Mutex<[String]>([])

    init(_ context: Context) {}
    func exportState() -> State { State(list: list.withLock { $0 }) }
    func importState(_ state: State) { list.withLock { $0 = state.list } }

    static func migrateUp(_ state: StoredState, from version: Int) throws -> State {
        switch version {
        case 1:
            State(list: try state.decode(Tally.State.self).words.flatMap { Array(repeating: $0, count: $1) }.sorted())
        case 2: State(list: try state.decode([String].self))
        default: throw Trouble()
        }
    }

    static func migrateDown(_ state: State, to version: Int) throws -> any Encodable {
        switch version {
        case 1: return Tally.State(words: Dictionary(state.list.map { ($0, 1) }, uniquingKeysWith: +))
        default: throw Trouble()
        }
    }
}

/// Says that it reads and writes what it has no migrations for.
final class MissingMigrations: Manager, StatefulComponent {
    struct State: Codable { var level: Double }
    static let stateSchema = StateSchema(name: "levels", version: 2, accepts: 1...3, writes: 1)
    private let level = Mutex(0.5)

    init(_ context: Context) {}
    func exportState() throws -> State { State(level: level.withLock { $0 }) }
    func importState(_ state: State) { level.withLock { $0 = state.level == 7 ? .infinity : state.level } }
}

/// Has nothing to carry over.
final class Stateless: Manager {
    init(_ context: Context) {}
}

extension ComponentClass {
    /// A class as a host gets to know it.
    static func registered<C: Component>(_: C.Type) throws -> ComponentClass where C.Context.Owner == C {
        let plugin = try PluginDescription(id: "org.example.state", version: "1.0.0", getInterface: { _, _ in nil }) {
            registrar in
            registrar.add(C.self)
        }
        return plugin.components[0]
    }

    func make() async throws -> ComponentInstance {
        let creation = OfferedCreation(
            number: 1, handle: 1, configuration: Array("{}".utf8), folder: "", resources: "", connections: [])
        return try await create(creation, { _ in })
    }
}

/// Steps that are waited for without limit, and state as text.
extension ComponentInstance {
    static func of<C: Component>(_: C.Type) async throws -> ComponentInstance where C.Context.Owner == C {
        try await ComponentClass.registered(C.self).make()
    }

    func suspend() async throws(BackplaneError) { try await suspend({ _ in }) }
    func checkHealth() async throws(BackplaneError) { try await checkHealth({ _ in }) }

    func exportText(version: UInt32 = 1) async throws(BackplaneError) -> String {
        String(decoding: try await exportState(version: version, { _ in }), as: UTF8.self)
    }

    func importText(_ text: String, version: UInt32 = 1) async throws(BackplaneError) {
        try await importState(Array(text.utf8), version: version, { _ in })
    }

    /// Calls a method natively, as a wire does.
    func wire<C: Contract>(_: C.Type) -> Wire<C> {
        let slot = Slot(number: 0, gatekeeper: NoEntry())
        if let nativeCells { slot.flip(to: Binding(nativeCells, counting: .atomic)) }
        return Wire(slot)
    }
}

/// The error that `body` throws; `nil`: none.
func failure(_ body: () async throws -> Void) async -> BackplaneError? {
    do { try await body() } catch { return BackplaneError(thrown: error) }
    return nil
}
