import Backplane
import BackplaneTestKit
import Foundation
import ParityContracts
import TestFixtures
import Testing

@testable import BackplaneHost

/// Streams from and to a plugin in C.
@Suite(.timeLimit(.minutes(10)))
struct PipeTests {
    /// What the tests read of the plugin.
    private struct Pipe: Contract {
        static let version: Version = "1.0.0"
        let numbers = StreamMethod<Int, Int>()
        let through = StreamMethod<Int, Int>()
        let sum = AsyncMethod<Int, Int>()
        let open = SyncMethod<Nothing, Int>()
        let released = SyncMethod<Nothing, Int>()
        let empty = StreamMethod<Nothing, Int>()
        let tooMany = StreamMethod<Nothing, Int>()
        let noArray = StreamMethod<Nothing, Int>()
        let notJSON = StreamMethod<Nothing, Int>()
        let letGo = SyncMethod<Nothing, Nothing>()
        let twoAtOnce = AsyncMethod<Nothing, Nothing>()
        let closedTwice = AsyncMethod<Int, Int>()
        let afterEnd = AsyncMethod<Int, String>()
        let stuck = StreamMethod<Nothing, Int>()
        let oneTooMany = AsyncMethod<Nothing, Nothing>()
    }

    /// The same with an input of another type.
    private struct MistypedPipe: Contract {
        static let name = "Pipe"
        static let version: Version = "1.0.0"
        let numbers = StreamMethod<String, Int>()
    }

    private func with(
        _ body: (TestHost, Remote<Pipe>) async throws -> Void
    ) async throws {
        try await TestHost.with(
            parity: #"""
                "Source": {"className": "SequencesManager"}, "Watch": {"className": "SequenceWatchManager"},
                "Pipe": {"className": "Pipe", "uses": {"source": "Source"}}
                """#,
            libraries: ["FixturesInC"], pluginPaths: [BuiltProducts.folder]
        ) { test in
            try await body(test, try await test.host.manager("Pipe"))
        }
    }

    @Test func `its streams arrive whole, its own and those of others`() async throws {
        try await with { _, pipe in
            for count in [0, 1, 64, 65, 500] {
                for stream in [pipe.numbers(count), pipe.through(count)] {
                    var arrived: [Int] = []
                    for try await number in stream { arrived.append(number) }
                    #expect(arrived == Array(0..<count))
                }
                #expect(try await pipe.sum(count) == (0..<count).reduce(0, +))
            }
            try await eventually { try pipe.open() == 0 }
        }
    }

    @Test func `errors arrive with the first request`() async throws {
        try await with { test, pipe in
            let mistyped: Remote<MistypedPipe> = try await test.host.manager("Pipe")
            let refused = await error { for try await _ in mistyped.numbers("no number") {} }
            #expect(refused == BackplaneError(.callInvalidInput, "expected a number"))
            #expect(await error { try await test.call("Pipe", "numbers", "3") }?.code == .callWrongKind)
            try await eventually { try pipe.open() == 0 }
        }
    }

    @Test func `a provider that answers wrongly fails its stream`() async throws {
        try await with { _, pipe in
            let noElements = await error { for try await _ in pipe.empty() {} }
            #expect(noElements?.code == .callInvalidOutput)
            #expect(noElements?.message.contains("0 elements") == true)
            let tooMany = await error { for try await _ in pipe.tooMany() {} }
            #expect(tooMany?.code == .callInvalidOutput)
            #expect(tooMany?.message.contains("5 elements of the stream, expected 1 to 4") == true)
            #expect(await error { for try await _ in pipe.noArray() {} }?.code == .callInvalidOutput)
            #expect(await error { for try await _ in pipe.notJSON() {} }?.code == .callInvalidOutput)
            try await eventually { try pipe.open() == 0 }
        }
    }

    @Test func `a stream whose opening does not return is given up at the deadline, and closed when it is open`()
        async throws
    {
        try await with { test, pipe in
            func opened() async -> Int? {
                await test.host.statistics.first { $0.component == "Pipe" }?.streams.opened
            }
            let stream = try await test.host.stream(
                "Pipe", "stuck", Array("null".utf8), test.host.begin(within: .farAway))
            await eventually { await opened() == 1 }
            try await test.clock.expire(.farAway)
            #expect(await error { for try await _ in stream {} }?.code == .callDeadline)
            #expect(try pipe.open() == 0)
            _ = try pipe.letGo()
            try await eventually { try pipe.open() == 0 }
            await eventually { await test.host.coordinator.openStreams == 0 }
        }
    }

    @Test func `a consumer with too many streams is told so, and can open others when it has closed some`() async throws
    {
        try await with { _, pipe in
            let refused = await error { try await pipe.oneTooMany() }
            #expect(refused?.code == .hostExhausted)
            #expect(refused?.message.contains("has 65536 streams that it has not closed") == true)
            let sum = try await pipe.sum(4)
            #expect(sum == 6)
        }
    }

    @Test func `a consumer in C that does wrong gets an error`() async throws {
        try await with { _, pipe in
            #expect(await error { try await pipe.twoAtOnce() }?.code == .streamMisused)
            let sum = try await pipe.closedTwice(10)
            #expect(sum == 45)
            #expect(try await pipe.afterEnd(3) == "the end again")
        }
    }
}
