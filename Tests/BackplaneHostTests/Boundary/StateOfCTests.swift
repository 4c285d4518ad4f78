import CBackplane
import Synchronization
import TestFixtures
import Testing

@testable import Backplane
@testable import BackplaneHost

/// State and health of a component in C, as a host asks for them.
@Suite(.timeLimit(.minutes(5)))
struct StateOfCTests {
    /// Creates an instance of a class of `Tests/Plugins/FixturesInC/byte-state.c`.
    private func make(
        _ className: String = "ByteState",
        launch: @escaping Callbacks.Launch = { body in
            body()
            return true
        }
    ) async throws -> ComponentInstance {
        let entry = unsafeBitCast(
            try DynamicLibrary(loading: BuiltProducts.folder + "/libFixturesInC.so").symbol(LibraryFile.entry),
            to: PluginDescription.Entry.self)
        let plugin = try PluginDescription(asking: entry, getInterface: { _, _ in nil })
        let found = try #require(plugin.components.first { $0.description.className == className })
        let creation = ComponentClass.OfferedCreation(
            number: 1, handle: 1, configuration: Array("{}".utf8), folder: "", resources: "", connections: [])
        return try await found.create(creation, { _ in }, launch)
    }

    @Test func `bytes of any kind go over, none and many`() async throws {
        for bytes in [[], [0], [0xFF, 0, 0xFE, 0x22], [UInt8](repeating: 0xAB, count: 20_000_000)] as [[UInt8]] {
            let old = try await make(), new = try await make()
            try await old.importState(bytes, version: 2, { _ in })
            try await old.suspend({ _ in })
            let state = try await old.exportState(version: 2, { _ in })
            try await new.importState(state, version: 2, { _ in })
            let again = try await new.exportState(version: 2, { _ in })
            #expect(state == bytes && again == bytes, "of \(bytes.count)")
        }
    }

    @Test func `it receives the versions to read and to write`() async throws {
        let component = try await make()
        try await component.importState([7], version: 1, { _ in })
        #expect(try await component.exportState(version: 2, { _ in }) == Array("!".utf8) + [7])
        #expect(try await component.exportState(version: 1, { _ in }) == [7])
    }

    @Test func `only the first of two answers counts, and a refusal is an error in its words`() async throws {
        let component = try await make("ExportsTwice")
        #expect(try await component.exportState(version: 2, { _ in }) == Array("first".utf8))
        #expect(
            await error { try await component.importState([], version: 2, { _ in }) }
                == BackplaneError(.componentFailed, "the state is locked"))
    }

    @Test func `an export that never ends is ended by the host`() async throws {
        let late = BackplaneError(.callDeadline, "the export took too long"), asked = Atomic<UInt64>(0)
        let component = try await make("NeverExports") { start in
            start()
            Callbacks.end(asked.load(ordering: .relaxed), EncodedAnswer(late))
            return true
        }
        let ended = await error {
            _ = try await component.exportState(version: 2, { asked.store($0, ordering: .relaxed) })
        }
        #expect(ended == late)
    }

    @Test func `one without state has none, and one that is not well says so`() async throws {
        #expect(
            await error { _ = try await make("WithoutState").exportState(version: 1, { _ in }) }?.code
                == .callUnimplemented
        )
        let component = try await make()
        #expect(component.hasHealthCheck)
        try await component.checkHealth({ _ in })
        try await component.importState([1, 2], version: 2, { _ in })
        #expect(
            await error { try await component.checkHealth({ _ in }) }
                == BackplaneError(.componentFailed, "the state is full"))
        #expect(component.failures == 0, "it has no native lane")
    }
}
