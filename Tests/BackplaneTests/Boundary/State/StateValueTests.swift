import Foundation
import Synchronization
import Testing

@testable import Backplane
@testable import BackplaneHost

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

        @Test func `after an import that throws`() async throws {
            let old = try await ComponentInstance.of(ExportingManager.self)
            let new = try await ComponentInstance.of(ExportingManager.self)
            do {
                let value = try await old.exportValue({ _ in })
                values.step.withLock { $0 = { throw Trouble() } }
                #expect(await failure { try await new.importValue(value, { _ in }) } != nil)
                #expect(values.freed == 0)
                withExtendedLifetime(value) {}
            }
            await freed(1)
            #expect(values.made == 1)
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
