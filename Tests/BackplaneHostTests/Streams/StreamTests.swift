import Backplane
import BackplaneTestKit
import CBackplane
import Foundation
import Glibc
import ParityContracts
import TestFixtures
import Testing

@testable import BackplaneControl
@testable import BackplaneHost

/// Streams between libraries, in either lane, to the host program and from plugin to plugin.
@Suite(.timeLimit(.minutes(10)))
struct StreamTests {
    /// The bodies of the provider's library.
    private func watch(_ test: TestHost) async throws -> Remote<SequenceWatch> {
        try await test.host.manager("Watch")
    }

    private func with(
        _ route: Route, _ body: (TestHost, Remote<Sequences>, Remote<SequenceWatch>) async throws -> Void
    ) async throws {
        try await route.with(
            "Sequences", as: Sequences.self, others: #", "Watch": {"className": "SequenceWatchManager"}"#
        ) { test, sequences in
            try await body(test, sequences, try await watch(test))
        }
    }

    @Test(arguments: Route.allCases)
    func `every element arrives once and in order, and then the end`(route: Route) async throws {
        try await with(route) { _, sequences, watch in
            for count in [0, 1, 63, 64, 65, 1_000] {
                var arrived: [Int] = []
                for try await number in sequences.count(count) { arrived.append(number) }
                #expect(arrived == Array(0..<count))
            }
            var iterator = sequences.count(1).makeAsyncIterator()
            #expect(try await iterator.next() == 0)
            #expect(try await iterator.next() == nil)
            #expect(try await iterator.next() == nil, "the end is the end")
            try await eventually { try watch.counts().running == 0 }
            #expect(try watch.counts().cancelled == 0)
        }
    }

    @Test(arguments: Route.allCases)
    func `an error in the middle arrives whole, after the elements before it`(route: Route) async throws {
        try await with(route) { _, sequences, _ in
            for kind in FailureKind.allCases {
                var arrived: [Int] = [], iterator = sequences.fail(kind).makeAsyncIterator()
                let thrown = await error {
                    while let number = try await iterator.next() { arrived.append(number) }
                }
                #expect(arrived == [0, 1])
                #expect(thrown == kind.error)
                let provider = "Direct.fail (org.backplane.tests.parity)"
                let relay = "Relayed.fail (org.backplane.tests.parity-relay)"
                let calls = kind == .cancellation ? [relay] : [relay, provider]
                #expect(thrown?.calls == (route.isRelayed ? calls : [provider]))
                let afterwards = try await iterator.next()
                #expect(afterwards == nil, "an error is the end")
            }
        }
    }

    @Test(arguments: Route.allCases)
    func `leaving the loop, cancelling its task and dropping the iterator cancel the body`(route: Route) async throws {
        try await with(route) { _, sequences, watch in
            for try await number in sequences.endless() where number == 100 { break }
            try await eventually { try watch.counts().running == 0 }
            #expect(try watch.counts().cancelled == 1)

            for stream in [sequences.endless(), sequences.silent()] {
                let begun = try watch.counts().begun
                let reader = Task { await error { for try await _ in stream {} } }
                try await eventually { try watch.counts().begun == begun + 1 }
                reader.cancel()
                #expect(await reader.value?.code == .callCancelled)
                try await eventually { try watch.counts().running == 0 }
            }
            #expect(try watch.counts().cancelled == 3)

            var iterator: StreamElements<Int, BackplaneError>.Iterator? = sequences.endless().makeAsyncIterator()
            #expect(try await iterator?.next() == 0)
            #expect(try watch.counts().running == 1)
            iterator = nil
            try await eventually { try watch.counts().running == 0 }

            let unread = sequences.endless()
            _ = unread
            #expect(try watch.counts().begun == 4, "a stream that is not read is not opened")
        }
    }

    @Test(arguments: Route.allCases)
    func `a second request at once is refused, and the first one is answered`(route: Route) async throws {
        /// Keeps an iterator whose copies its tasks use.
        actor SharedIterator {
            private let iterator: StreamElements<Int, BackplaneError>.Iterator

            init(_ stream: StreamElements<Int, BackplaneError>) { iterator = stream.makeAsyncIterator() }

            func next() async -> Result<Int?, BackplaneError> {
                var copy = iterator
                do throws(BackplaneError) { return .success(try await copy.next()) } catch { return .failure(error) }
            }
        }
        try await with(route) { _, sequences, watch in
            let shared = SharedIterator(sequences.silent()), first = Task { await shared.next() }
            try await eventually { try watch.counts().running == 1 }
            for _ in 0..<3 {
                let second = await shared.next()
                #expect(throws: BackplaneError(.streamMisused, BackplaneError.streamReadTwiceAtOnce.message)) {
                    try second.get()
                }
            }
            first.cancel()
            let answer = await first.value
            let error = #expect(throws: BackplaneError.self) { try answer.get() }
            #expect(error?.code == .callCancelled)
            try await eventually { try watch.counts().running == 0 }
        }
    }

    @Test(arguments: Route.allCases)
    func `a fast provider waits for its consumer`(route: Route) async throws {
        try await with(route) { _, sequences, watch in
            var iterator = sequences.endless().makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first == 0)
            // What is made in advance is one batch at each of the wires, and what waits between them.
            let wires = route.isRelayed ? 2 : 1, limit = route.lanes == .encoded ? 130 * wires : wires
            for _ in 0..<50 { await Task.yield() }
            #expect(try watch.counts().sent <= limit)
            for number in 1...1_000 { #expect(try await iterator.next() == number) }
            #expect(try watch.counts().sent <= 1_001 + limit)
        }
    }

    @Test(arguments: Route.allCases)
    func `a buffer reads in advance, and drops what its policy says`(route: Route) async throws {
        try await with(route) { _, sequences, watch in
            var newest: BufferedElements<Int, BackplaneError>.Iterator? = sequences.endless().buffered(
                .bufferingNewest(1)
            )
            .makeAsyncIterator()
            try await eventually { try watch.counts().sent > 500 }
            let number = try await newest?.next() ?? 0
            #expect(number > 0, "the first one was dropped")
            newest = nil
            try await eventually { try watch.counts().running == 0 }

            var oldest: [Int] = []
            for try await number in sequences.count(1_000).buffered(.unbounded) { oldest.append(number) }
            #expect(oldest == Array(0..<1_000))
            #expect(
                await error { for try await _ in sequences.fail(.whole).buffered(.bufferingOldest(5)) {} }
                    == FailureKind.whole.error)
        }
    }

    @Test(arguments: Route.allCases)
    func `a deadline bounds the opening of a stream, and not its life`(route: Route) async throws {
        try await with(route) { test, sequences, watch in
            let late = test.host.begin(within: .zero)
            #expect(await error { for try await _ in sequences.count(1, late) {} }?.code == .callDeadline)
            #expect(try watch.counts().begun == 0)

            var iterator = sequences.endless(test.host.begin(within: .farAway)).makeAsyncIterator()
            #expect(try await iterator.next() == 0)
            test.clock.advance(by: .farAway)
            for number in 1...200 { #expect(try await iterator.next() == number) }
            for try await frame in sequences.frame(test.host.begin(within: .seconds(1_000))) {
                #expect(frame == SequenceFrame(components: route.isRelayed ? 1 : 0, hasDeadline: false))
            }
        }
    }

    @Test(arguments: Route.allCases)
    func `an element that cannot be encoded fails the stream, after those before it`(route: Route) async throws {
        try await with(route) { _, sequences, _ in
            var arrived: [Double] = []
            do throws(BackplaneError) {
                for try await number in sequences.unusual() { arrived.append(number) }
                #expect(route.lanes == .fastest)
                #expect(arrived == [1, .infinity, 2])
            } catch {
                #expect(route.lanes == .encoded)
                #expect(error.code == .callInvalidOutput)
                #expect(arrived == [1])
            }
        }
    }

    @Test(arguments: Route.allCases)
    func `a component that ends keeps its instance until its bodies have returned`(route: Route) async throws {
        try await with(route) { test, sequences, watch in
            var iterator = sequences.stubborn().makeAsyncIterator()
            #expect(try await iterator.next() == 0)
            let reset = Task { try await test.host.reset("Direct") }
            let ended = await error { while try await iterator.next() != nil {} }
            #expect(ended?.code == .streamInterrupted)
            #expect(try watch.counts().running == 1 && watch.counts().released == 0)
            _ = try watch.letGo()
            _ = try await reset.value
            try await eventually { try watch.counts().released == 1 }
            #expect(try watch.counts().running == 0)
            for try await number in sequences.count(1) { #expect(number == 0, "it can be opened again") }
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a host that stops ends its streams`(lanes: LaneRule) async throws {
        try await with(Route(lanes: lanes, isRelayed: true)) { test, sequences, _ in
            let silent = Task { await error { for try await _ in sequences.silent() {} } }
            let endless = Task { await error { for try await _ in sequences.endless() {} } }
            let registered = test.host.coordinator
            await eventually { await registered.openStreams == 4 }
            await test.host.stop()
            for reader in [silent, endless] {
                let code = await reader.value?.code
                #expect([.hostStopped, .callRetired, .streamInterrupted].contains(code), "\(code as Any)")
            }
            #expect(test.log.records.allSatisfy { $0.level < .error })
        }
    }
}

extension Coordinator {
    /// The streams that the active components have open.
    var openStreams: Int { live.nodes.reduce(0) { $0 + ($1.callable?.streams.count ?? 0) } }
}

/// Streams that are opened by name, by the host program and over the control socket.
@Suite(.timeLimit(.minutes(10)))
struct NamedStreamTests {
    private func with(_ body: (TestHost, Remote<SequenceWatch>) async throws -> Void) async throws {
        try await Route(lanes: .fastest, isRelayed: false).with(
            "Sequences", as: Sequences.self, others: #", "Watch": {"className": "SequenceWatchManager"}"#
        ) { test, _ in try await body(test, try await test.host.manager("Watch")) }
    }

    private func text(_ stream: NamedElements) async throws -> [String] {
        var elements: [String] = []
        for try await element in stream { elements.append(String(decoding: element, as: UTF8.self)) }
        return elements
    }

    private func stream(_ test: TestHost, _ method: String, _ input: String = "null", within limit: Duration? = nil)
        async throws(BackplaneError) -> NamedElements
    {
        try await test.host.stream("Direct", method, Array(input.utf8), test.host.begin(within: limit))
    }

    @Test func `the elements arrive as JSON, one by one`() async throws {
        try await with { test, _ in
            let numbers = try await text(stream(test, "count", "70"))
            #expect(numbers == (0..<70).map(String.init))
            let volume = try await text(stream(test, "volumes", "1"))
            #expect(volume.count == 1 && volume[0].hasPrefix("{") && volume[0].contains(#""title":"volume 0""#))
        }
    }

    @Test func `what is no stream, or not there, is an error of the first element`() async throws {
        try await with { test, _ in
            let unknown = await error { try await text(stream(test, "coun", "70")) }
            #expect(unknown?.code == .callUnimplemented)
            #expect(unknown?.calls == ["Direct.coun (org.backplane.tests.parity)"])
            let mistyped = await error { try await text(stream(test, "count", "\"many\"")) }
            #expect(mistyped?.code == .callInvalidInput)
            let called = await error { try await test.call("Direct", "count", "1") }
            #expect(called?.code == .callWrongKind)
            let opened = await error {
                let counts = try await test.host.stream("Watch", "counts", Array("null".utf8), test.host.begin())
                for try await _ in counts {}
            }
            #expect(opened?.code == .callWrongKind)
            let late = await error { try await text(stream(test, "count", "1", within: .zero)) }
            #expect(late?.code == .callDeadline)
            let absent = await error {
                try await test.host.stream("Indirect", "count", [], test.host.begin())
            }
            #expect(absent?.code == .unknownManager)
        }
    }

    @Test(arguments: Route.allCases)
    func `open streams, and the elements that were taken, are counted`(route: Route) async throws {
        try await route.with("Sequences", as: Sequences.self) { test, sequences in
            func statistics() async -> StreamStatistics? {
                await test.host.statistics.first { $0.component == "Direct" }?.streams
            }
            #expect(await statistics() == StreamStatistics())
            var iterator = sequences.endless().makeAsyncIterator()
            for _ in 0..<10 { _ = try await iterator.next() }
            let open = try #require(await statistics())
            // Encoded, and before the relay, elements are taken in advance.
            #expect(open.open == 1 && open.opened == 1 && open.elements >= 10)
            if route.lanes == .fastest, !route.isRelayed { #expect(open.elements == 10) }
            for try await _ in sequences.count(100) {}
            _ = consume iterator
            await eventually { await statistics()?.open == 0 }
            let closed = try #require(await statistics())
            #expect(closed.opened == 2 && closed.elements >= 110)
            if route.lanes == .fastest, !route.isRelayed { #expect(closed.elements == 110) }
        }
    }

    // MARK: The control socket

    private func withSocket(
        _ limits: ControlLimits = ControlLimits(),
        _ body: (TestHost, ControlClient, Remote<SequenceWatch>) async throws -> Void
    ) async throws {
        try await with { test, watch in
            let control = try ControlSocket(
                serving: test.host, in: test.folder + "/run", requests: [], limits: limits)
            defer { control.close() }
            try await body(test, ControlClient(control.path), watch)
        }
    }

    private func ask(_ client: ControlClient, _ method: String, _ input: String? = nil, limit: Int? = nil) async
        -> (elements: [String], answer: Result<StreamRequest.Answer, BackplaneError>)
    {
        let request = StreamRequest(
            CallRequest(manager: "Direct", method: method, input: input, timeout: nil), limit: limit)
        return await onThread {
            var elements: [String] = []
            do throws(BackplaneError) {
                let answer = try client.ask(request, element: { elements.append($0) })
                return (elements, .success(answer))
            } catch {
                return (elements, .failure(error))
            }
        }
    }

    @Test func `a client is given each element, and their number at the end`() async throws {
        try await withSocket { _, client, watch in
            let all = await ask(client, "count", "3")
            #expect(all.elements == ["0", "1", "2"])
            #expect(try all.answer.get().elements == 3)
            let some = await ask(client, "endless", limit: 100)
            #expect(some.elements == (0..<100).map(String.init))
            #expect(try some.answer.get().elements == 100)
            try await eventually { try watch.counts().running == 0 }
            let failed = await ask(client, "fail", #""whole""#)
            #expect(failed.elements == ["0", "1"])
            #expect(throws: BackplaneError.self) { try failed.answer.get() }
            let refused = await ask(client, "count", "1", limit: 0)
            let error = #expect(throws: BackplaneError.self) { try refused.answer.get() }
            #expect(error?.code == .controlMalformed && error?.location == "/limit")
        }
    }

    @Test func `streams keep out no other request, and are bounded`() async throws {
        var limits = ControlLimits()
        (limits.lasting, limits.connections) = (3, 1)
        try await withSocket(limits) { _, client, watch in
            let line = Array((#"{"request": "stream", "manager": "Direct", "method": "silent"}"# + "\n").utf8)
            let sockets = try (0..<3).map { _ in
                let socket = try LocalSocket(connectingTo: client.path, within: .seconds(60))
                try socket.write(line, until: .now + .seconds(60))
                return socket
            }
            try await eventually { try watch.counts().running == 3 }
            let further = await ask(client, "count", "1")
            let error = #expect(throws: BackplaneError.self) { try further.answer.get() }
            #expect(error?.code == .controlBusy)
            let called = await onThread {
                do throws(BackplaneError) {
                    return Result<String, BackplaneError>.success(
                        try client.ask(
                            CallRequest(manager: "Watch", method: "counts", input: nil, timeout: nil)
                        ).output)
                } catch {
                    return .failure(error)
                }
            }
            #expect(try called.get().contains(#""running":3"#))
            for socket in sockets { socket.hangUp() }
            try await eventually { try watch.counts().running == 0 }
        }
    }
}

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
