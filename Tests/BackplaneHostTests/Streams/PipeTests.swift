import Backplane
import BackplaneTestKit
import Foundation
import ParityContracts
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
        let twice = StreamMethod<Nothing, Int>()
        let afterClose = StreamMethod<Nothing, Int>()
        let deaf = StreamMethod<Nothing, Int>()
        let letGo = SyncMethod<Nothing, Nothing>()
        let twoAtOnce = AsyncMethod<Nothing, Nothing>()
        let closedTwice = AsyncMethod<Int, Int>()
        let afterEnd = AsyncMethod<Int, String>()
        let noSuchStream = AsyncMethod<Nothing, Nothing>()
        let mixed = StreamMethod<Nothing, Int>()
        let stuck = StreamMethod<Nothing, Int>()
        /// The number of requests that were not answered.
        let race = AsyncMethod<Int, Int>()
        let oneTooMany = AsyncMethod<Nothing, Nothing>()
    }

    /// The same with an input of another type.
    private struct MistypedPipe: Contract {
        static let name = "Pipe"
        static let version: Version = "1.0.0"
        let numbers = StreamMethod<String, Int>()
    }

    /// The same with a member of a kind that no host knows.
    private struct FuturePipe: Contract {
        static let name = "Pipe"
        static let version: Version = "1.0.0"
        let sum = AsyncMethod<Int, Int>()
        let numbers = StreamMethod<Int, Int>()
    }

    private static func library(edition: String = "1.0.0") throws -> [UInt8] {
        let path = FilePath.folder(of: #filePath) + "/../../Plugins/Pipe/pipe.c"
        return try LoadingFixture.library(
            of: String(contentsOfFile: path, encoding: .utf8),
            [
                "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-pedantic", "-Werror",
                "-fvisibility=hidden", "-DEDITION=\"\(edition)\"",
            ])
    }

    private func with(
        _ body: (TestHost, Remote<Pipe>, LoadingFixture.Folder) async throws -> Void
    ) async throws {
        let folder = try LoadingFixture.Folder()
        try folder.write(Self.library(), as: "libPipe.so")
        try await TestHost.with(
            parity: #"""
                "Source": {"className": "SequencesManager"}, "Watch": {"className": "SequenceWatchManager"},
                "Pipe": {"className": "Pipe", "uses": {"source": "Source"}}
                """#,
            libraries: ["Pipe"], pluginPaths: [TestHost.libraries], in: folder
        ) { test in
            try await body(test, try await test.host.manager("Pipe"), folder)
        }
    }

    @Test func `its streams arrive whole, its own and those of others`() async throws {
        try await with { _, pipe, _ in
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

    @Test func `a consumer that leaves closes its streams, through others too`() async throws {
        try await with { test, pipe, _ in
            for try await number in pipe.numbers(1_000_000) where number == 200 { break }
            for try await number in pipe.through(1_000_000) where number == 200 { break }
            try await eventually { try pipe.open() == 0 }
            let watch: Remote<SequenceWatch> = try await test.host.manager("Watch")
            try await eventually { try watch.counts().running == 0 }
            #expect(try watch.counts().cancelled == 1)
            await eventually { await test.host.coordinator.openStreams == 0 }
        }
    }

    @Test func `errors arrive with the first request`() async throws {
        try await with { test, pipe, _ in
            let mistyped: Remote<MistypedPipe> = try await test.host.manager("Pipe")
            let refused = await error { for try await _ in mistyped.numbers("no number") {} }
            #expect(refused == BackplaneError(.callInvalidInput, "expected a number"))
            #expect(await error { try await test.call("Pipe", "numbers", "3") }?.code == .callWrongKind)
            #expect(await error { try await pipe.noSuchStream() }?.code == .streamMisused)
            try await eventually { try pipe.open() == 0 }
        }
    }

    @Test func `a provider that answers wrongly fails its stream`() async throws {
        try await with { _, pipe, _ in
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

    @Test func `an element that cannot be decoded fails the stream, after those before it`() async throws {
        try await with { _, pipe, _ in
            var arrived: [Int] = []
            let failed = await error { for try await number in pipe.mixed() { arrived.append(number) } }
            #expect(arrived == [1, 2])
            #expect(failed?.code == .callInvalidOutput)
            try await eventually { try pipe.open() == 0 }
        }
    }

    @Test func `a stream whose opening does not return is given up at the deadline, and closed when it is open`()
        async throws
    {
        try await with { test, pipe, _ in
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

    @Test func `a stream that another thread closes while it is read answers every request`() async throws {
        try await with { test, pipe, _ in
            let unanswered = try await pipe.race(300)
            #expect(unanswered == 0)
            let watch: Remote<SequenceWatch> = try await test.host.manager("Watch")
            try await eventually { try watch.counts().running == 0 }
            await eventually { await test.host.coordinator.openStreams == 0 }
        }
    }

    @Test func `a consumer with too many streams is told so, and can open others when it has closed some`() async throws
    {
        try await with { _, pipe, _ in
            let refused = await error { try await pipe.oneTooMany() }
            #expect(refused?.code == .hostExhausted)
            #expect(refused?.message.contains("has 65536 streams that it has not closed") == true)
            let sum = try await pipe.sum(4)
            #expect(sum == 6)
        }
    }

    @Test func `answers that come twice, or after the close, are ignored`() async throws {
        try await with { _, pipe, _ in
            var arrived: [Int] = []
            for try await number in pipe.twice() { arrived.append(number) }
            #expect(arrived == [7, 7, 7])

            let reader = Task {
                var arrived: [Int] = []
                let thrown = await error { for try await number in pipe.afterClose() { arrived.append(number) } }
                return (arrived, thrown?.code)
            }
            try await eventually { try pipe.open() == 1 }
            reader.cancel()
            let (elements, code) = await reader.value
            #expect(code == .callCancelled)
            #expect(elements == [0] || elements == [])
            try await eventually { try pipe.open() == 0 }
        }
    }

    @Test func `a consumer in C that does wrong gets an error`() async throws {
        try await with { _, pipe, _ in
            #expect(await error { try await pipe.twoAtOnce() }?.code == .streamMisused)
            let sum = try await pipe.closedTwice(10)
            #expect(sum == 45)
            #expect(try await pipe.afterEnd(3) == "the end again")
        }
    }

    @Test func `an unknown kind of method loses that method only`() async throws {
        try await with { test, pipe, _ in
            let unknown = await error { try await test.call("Pipe", "unknown") }
            #expect(unknown?.code == .callUnimplemented)
            #expect(unknown?.message == "`unknown` of Pipe is of the unknown kind 77, which this host cannot call")
            let future: Remote<FuturePipe> = try await test.host.manager("Pipe")
            #expect(try await future.sum(4) == 6)
        }
    }

    @Test func `an instance whose stream is not closed is kept, however often it is swapped`() async throws {
        try await with { test, pipe, folder in
            var iterator = pipe.deaf().makeAsyncIterator()
            #expect(try await iterator.next() == 0)
            let next = try folder.write(Self.library(edition: "2.0.0"), as: "libNext.so")
            try await test.host.swap(
                library: next, SwapOptions(drain: .upTo(.seconds(10), then: .fail), stepLimit: .seconds(60)))
            #expect(await error { try await iterator.next() }?.code == .streamInterrupted)
            let holders = try await test.host.generations(of: "org.backplane.tests.pipe").first?.heldBy ?? []
            #expect(holders.contains("1 stream of Pipe whose body has not returned"), "\(holders)")
            var arrived: [Int] = []
            for try await number in pipe.numbers(3) { arrived.append(number) }
            #expect(arrived == [0, 1, 2], "the new code's")
            // First for its calls to end, and then for those that were cancelled.
            try await test.expiring(.seconds(60), .seconds(1)) { await test.host.stop() }
        }
    }
}
