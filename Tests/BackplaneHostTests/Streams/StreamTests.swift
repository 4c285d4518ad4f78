import Backplane
import BackplaneTestKit
import ParityContracts
import TestFixtures
import Testing

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
