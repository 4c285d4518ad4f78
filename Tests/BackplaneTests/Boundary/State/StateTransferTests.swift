import Testing

@testable import Backplane
@testable import BackplaneHost

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

    @Test func `an export changes nothing and may come twice`() async throws {
        let tally = try await ComponentInstance.of(Tally.self)
        try await tally.importText(#"{"words":{"whale":2}}"#)
        let first = try await tally.exportText(), second = try await tally.exportText()
        #expect(first == #"{"words":{"whale":2}}"# && second == first)
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
