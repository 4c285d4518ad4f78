import Backplane
import BackplaneTestKit
import Dispatch
import Synchronization
import Testing

@testable import BackplaneHost

/// Streams of components that are swapped, in either lane, with and without a gate.
@Suite(.timeLimit(.minutes(10)))
struct StreamSwapTests {
    struct Kind: CaseIterable, Sendable, CustomTestStringConvertible {
        var lanes: LaneRule
        var isGated: Bool

        static let allCases = [
            Kind(lanes: .fastest, isGated: false), Kind(lanes: .fastest, isGated: true),
            Kind(lanes: .encoded, isGated: false), Kind(lanes: .encoded, isGated: true),
        ]
        var testDescription: String {
            "\(lanes == .encoded ? "encoded" : "native"), \(isGated ? "gated" : "not gated")"
        }
    }

    private func with(
        _ kind: Kind, _ script: FeedScript = FeedScript(1),
        reading: @escaping @Sendable (Wire<Feeding>, Call) async throws -> Void = { _, _ in },
        _ body: (FeedHost) async throws -> Void
    ) async throws {
        try await FeedHost.with(script, isGated: kind.isGated, lanes: kind.lanes, reading: reading, body)
    }

    @Test(arguments: Kind.allCases)
    func `streams end when their provider is swapped, and can be opened again`(kind: Kind) async throws {
        try await with(kind) { feeds in
            for edition in 2...6 {
                var iterator = feeds.feed.numbers(0).makeAsyncIterator()
                for _ in 0..<100 { #expect(try await iterator.next() == edition - 1) }
                try await feeds.swap(FeedScript(edition))
                let ended = await error {
                    while let number = try await iterator.next() { #expect(number == edition - 1) }
                }
                #expect(ended?.code == .streamInterrupted)
                for try await number in feeds.feed.numbers(0) {
                    #expect(number == edition)
                    break
                }
                await eventually { feeds.record.events.contains("gone \(edition - 1)") }
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `a stream that waits for its provider is interrupted, too`(kind: Kind) async throws {
        let silent = FeedScript(1) { _, _ in try await Task.sleep(for: .seconds(36_000)) }
        try await with(kind, silent) { feeds in
            let feed = feeds.feed
            let reader = Task { await error { for try await _ in feed.numbers(0) {} } }
            await eventually { feeds.record.events.contains("begin 1") }
            try await feeds.swap(FeedScript(2))
            #expect(await reader.value?.code == .streamInterrupted)
            await eventually { feeds.record.events.contains("gone 1") }
        }
    }

    @Test(arguments: Kind.allCases)
    func `a body that ignores its cancellation holds up the release, and not the swap`(kind: Kind) async throws {
        let latch = Latch()
        let stubborn = FeedScript(1) { _, elements in
            try await elements.send(1)
            await latch.pass()
            // The component is still there, whoever has been swapped in meanwhile.
            try? await elements.send(2)
        }
        try await with(kind, stubborn) { feeds in
            let feed = feeds.feed
            let reader = Task { await error { for try await number in feed.numbers(0) { #expect(number == 1) } } }
            await eventually { latch.arrived == 1 }
            try await feeds.swap(FeedScript(2))
            #expect(await reader.value?.code == .streamInterrupted)
            #expect(try feed.edition() == 2)
            try await feeds.swap(FeedScript(3))
            await eventually { feeds.record.events.contains("gone 2") }
            #expect(!feeds.record.events.contains("gone 1"))
            let holders = try await feeds.host.generations(of: FeedHost.plugin).first?.heldBy ?? []
            #expect(holders.contains("1 stream of Feed whose body has not returned"), "\(holders)")
            latch.open()
            await eventually { feeds.record.events.contains("gone 1") }
            #expect(feeds.record.events.contains("end 1"))
        }
    }

    @Test(arguments: Kind.allCases)
    func `a swap that fails before the flip leaves the streams`(kind: Kind) async throws {
        try await with(kind) { feeds in
            var iterator = feeds.feed.numbers(0).makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first == 1)
            var failing = FeedScript(2)
            failing.made = { throw BackplaneError(.componentFailed, "no") }
            #expect(await error { try await feeds.swap(failing) }?.code == .swapFailed)
            for _ in 0..<500 { #expect(try await iterator.next() == 1) }
        }
    }

    @Test(arguments: Kind.allCases)
    func `a rollback ends the streams of the new code, and the old code's can be opened`(kind: Kind) async throws {
        try await with(kind) { feeds in
            let feed = feeds.feed, isSick = Latch()
            var sick = FeedScript(2)
            sick.health = {
                guard isSick.arrived == 0 else { throw BackplaneError(.componentFailed, "sick") }
            }
            feeds.record.next(sick)
            let swap = Task {
                try await feeds.swap(
                    FeedHost.edition(2),
                    SwapOptions(
                        probation: Probation(duration: .seconds(600), healthInterval: .seconds(1)),
                        drain: .upTo(.seconds(60), then: .fail)))
            }
            await eventually { (try? feed.edition()) == 2 }
            var iterator = feed.numbers(0).makeAsyncIterator()
            #expect(try await iterator.next() == 2)
            try await feeds.test.clock.waiters(for: .seconds(1))
            isSick.open()
            await isSick.pass()
            feeds.test.clock.advance(by: .seconds(1))
            #expect(try await swap.value.outcome == .rolledBack)
            let ended = await error { while let number = try await iterator.next() { #expect(number == 2) } }
            #expect(ended?.code == .streamInterrupted)
            for try await number in feed.numbers(0) {
                #expect(number == 1)
                break
            }
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `what a body throws because its component is suspended counts as an interruption`(lanes: LaneRule) async throws
    {
        let latch = Latch(), failed = Latch()
        var script = FeedScript(1) { _, elements in
            try await elements.send(1)
            await latch.pass()
            failed.open()
            throw BackplaneError(.componentFailed, "the source was closed")
        }
        script.suspended = {
            latch.open()
            await failed.pass()
        }
        try await with(Kind(lanes: lanes, isGated: true), script) { feeds in
            var iterator = feeds.feed.numbers(0).makeAsyncIterator()
            #expect(try await iterator.next() == 1)
            await eventually { latch.arrived == 1 }
            try await feeds.swap(FeedScript(2))
            #expect(await error { try await iterator.next() }?.code == .streamInterrupted)
            #expect(await feeds.host.statistics.first { $0.component == "Feed" }?.errors == 0)
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a body that returns because its component is suspended has not ended its stream`(lanes: LaneRule) async throws
    {
        let isSuspended = Latch(), returned = Latch()
        var script = FeedScript(1)
        script.suspended = {
            isSuspended.open()
            await isSuspended.pass()
            await returned.pass()
        }
        script.counted = { first, elements in
            var number = first
            while isSuspended.arrived == 0 {
                try await elements.send(number)
                number += 1
            }
            returned.open()
        }
        try await with(Kind(lanes: lanes, isGated: true), script) { feeds in
            let feed = feeds.feed, read = Count(0), wanted = Count(.max)
            let reader = Task { () async throws -> Int in
                var expected = 0
                for try await number in feed.counted(CountedFrom(first: 0)) {
                    #expect(number == expected)
                    expected += 1
                    read.value = expected
                    if expected > wanted.value { break }
                }
                return expected
            }
            await eventually { read.value > 100 }
            try await feeds.swap(FeedScript(2))
            let before = read.value
            // More than can lie between the older code and the reader.
            wanted.value = before + 200
            #expect(try await reader.value > before + 200)
            #expect(feeds.record.events.contains("begin 2"))
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a resumable stream waits for the new code longer than a swap waits for calls`(lanes: LaneRule) async throws {
        let activation = Latch(), goOn = Latch()
        try await with(Kind(lanes: lanes, isGated: true)) { feeds in
            let feed = feeds.feed
            let reader = Task {
                var numbers: [Int] = []
                for try await number in feed.counted(CountedFrom(first: 0)) {
                    numbers.append(number)
                    if numbers.count == 10 { await goOn.pass() }
                    if numbers.count == 300 { break }
                }
                return numbers
            }
            await eventually { goOn.arrived == 1 }
            var slow = FeedScript(2)
            slow.activated = { await activation.pass() }
            feeds.record.next(slow)
            let swap = Task {
                try await feeds.swap(
                    FeedHost.edition(2),
                    SwapOptions(drain: .upTo(.milliseconds(1), then: .fail), stepLimit: .seconds(60)))
            }
            await eventually { activation.arrived == 1 }
            goOn.open()
            feeds.test.clock.advance(by: .milliseconds(20))
            #expect(!feeds.record.events.contains("begin 2"))
            activation.open()
            _ = try await swap.value
            #expect(try await reader.value == Array(0..<300))
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `bodies that react to their cancellation and do not return hold up no other stream`(lanes: LaneRule)
        async throws
    {
        let released = DispatchSemaphore(value: 0), stuck = Count(0), inside = Count(0), returns = Latch()
        let script = FeedScript(1) { kind, elements in
            try await elements.send(kind)
            await withTaskCancellationHandler {
                inside.add()
                // A body that goes on while its cancellation does not return would block a thread of Swift's pool.
                if kind == 1 { return await returns.pass() }
                for await _ in AsyncStream<Never>.makeStream().stream {}
            } onCancel: {
                guard kind == 1 else { return }
                stuck.add()
                released.wait()
            }
        }
        try await with(Kind(lanes: lanes, isGated: false), script) { feeds in
            let feed = feeds.feed, begun = Count(0)
            // Half of the bodies are stuck.
            let readers = (0..<12).map { number in
                Task {
                    await error {
                        for try await _ in feed.numbers(number % 2) { begun.add() }
                    }
                }
            }
            // A body that was cancelled earlier would call its handler itself.
            await eventually { begun.value == 12 && inside.value == 12 }
            try await feeds.swap(FeedScript(2))
            for reader in readers { #expect(await reader.value?.code == .streamInterrupted) }
            await eventually { feeds.record.events.count { $0 == "end 1" } == 6 }
            await eventually { stuck.value == 6 }
            // A body that has noted its end has yet to return.
            try await eventually {
                try await feeds.host.generations(of: FeedHost.plugin).first?.heldBy.contains(
                    "6 streams of Feed whose bodies have not returned") == true
            }
            for _ in 0..<6 { released.signal() }
            returns.open()
            await eventually { feeds.record.events.contains("gone 1") }
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `an interruption is told as one, whenever it comes`(lanes: LaneRule) async throws {
        try await with(Kind(lanes: lanes, isGated: false)) { feeds in
            let feed = feeds.feed, read = Count(0)
            let streams = try #require(await feeds.host.coordinator.streams(of: "Feed"))
            for _ in 0..<2_000 {
                let before = read.value
                let reader = Task {
                    await error { for try await _ in feed.numbers(0) { read.add() } }
                }
                while read.value == before { await Task.yield() }
                streams.interrupt(.streamInterrupted)
                #expect(await reader.value?.code == .streamInterrupted)
                streams.admit()
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `the streams of a component that is swapped are closed`(kind: Kind) async throws {
        let silent = FeedScript(1) { _, _ in try await Task.sleep(for: .seconds(36_000)) }
        try await with(kind, silent, reading: { feed, call in for try await _ in feed.numbers(0, call) {} }) { feeds in
            let reader = feeds.reader
            try await feeds.host.start()
            await eventually { feeds.record.events == ["begin 1"] }
            try await feeds.swap(FeedHost.readerEdition(2))
            await eventually { feeds.record.events.sorted() == ["begin 1", "begin 1", "end 1"] }
            await eventually { reader.events == ["failed: call.retired"] }
            try await feeds.swap(FeedHost.readerEdition(3))
            await eventually { reader.events == ["failed: call.retired", "failed: call.retired"] }
        }
        // The host has stopped: nobody reads any more.
    }

    @Test(arguments: Kind.allCases)
    func `a provider and its consumer that are swapped together leave no stream between old and new code`(kind: Kind)
        async throws
    {
        let arrived = Atomic(0)
        try await with(
            kind,
            reading: { feed, call in
                var expected = 0
                for try await number in feed.counted(CountedFrom(first: 0), call) {
                    #expect(number == expected)
                    expected = number + 1
                    arrived.add(1, ordering: .relaxed)
                }
            }
        ) { feeds in
            let reader = feeds.reader
            try await feeds.host.start()
            var own = feeds.feed.counted(CountedFrom(first: 0)).makeAsyncIterator(), expected = 0
            for edition in 2...6 {
                let before = arrived.load(ordering: .relaxed)
                await eventually { arrived.load(ordering: .relaxed) > before }
                for _ in 0..<50 {
                    #expect(try await own.next() == expected)
                    expected += 1
                }
                feeds.record.next(FeedScript(edition))
                try await feeds.swap([FeedHost.edition(edition), FeedHost.readerEdition(edition)])
                await eventually { reader.events.count == edition - 1 }
            }
            // Those of the old readers were closed; the host program's own went on in each edition.
            #expect(reader.events == [String](repeating: "failed: call.retired", count: 5))
            #expect(try await own.next() == expected)
            let before = arrived.load(ordering: .relaxed)
            await eventually { arrived.load(ordering: .relaxed) > before }
            await eventually { feeds.record.events.count { $0.hasPrefix("gone") } == 5 }
        }
    }

    @Test(arguments: Kind.allCases)
    func `a resumable stream goes on in the new code, without a gap or a repetition`(kind: Kind) async throws {
        let arrived = Atomic(0)
        try await with(
            kind,
            reading: { feed, call in
                var expected = 7
                for try await number in feed.counted(CountedFrom(first: 7), call) {
                    #expect(number == expected)
                    (expected, _) = (number + 1, arrived.store(number, ordering: .relaxed))
                }
            }
        ) { feeds in
            try await feeds.host.start()
            var own = feeds.feed.counted(CountedFrom(first: 0)).makeAsyncIterator(), expected = 0
            for edition in 2...10 {
                let before = arrived.load(ordering: .relaxed)
                await eventually { arrived.load(ordering: .relaxed) > before }
                for _ in 0..<150 {
                    #expect(try await own.next() == expected)
                    expected += 1
                }
                try await feeds.swap(FeedScript(edition))
            }
            try await feeds.host.reset("Feed")
            for _ in 0..<150 {
                #expect(try await own.next() == expected)
                expected += 1
            }
            let before = arrived.load(ordering: .relaxed)
            await eventually { arrived.load(ordering: .relaxed) > before }
            #expect(feeds.reader.events.isEmpty)
            #expect(feeds.record.events.contains("begin 10"))
        }
    }

    @Test(arguments: Kind.allCases)
    func `a stream from now on is resumed only once it has a position`(kind: Kind) async throws {
        let sends = Latch()
        var script = FeedScript(1)
        script.counted = { first, elements in
            if first < 0 { await sends.pass() }
            for number in max(first, 0)... { try await elements.send(number) }
        }
        try await with(kind, script) { feeds in
            let feed = feeds.feed
            let early = Task { await error { for try await _ in feed.counted(CountedFrom(first: -1)) {} } }
            await eventually { sends.arrived == 1 }
            var second = script
            second.edition = 2
            try await feeds.swap(second)
            #expect(await early.value?.code == .streamInterrupted)
            sends.open()
            var late = feeds.feed.counted(CountedFrom(first: -1)).makeAsyncIterator()
            #expect(try await late.next() == 0)
            var third = script
            third.edition = 3
            try await feeds.swap(third)
            for number in 1..<150 { #expect(try await late.next() == number) }
            #expect(feeds.record.events.contains("begin 3"))
        }
    }

    @Test(arguments: Kind.allCases)
    func `streams are opened and closed while their provider is swapped`(kind: Kind) async throws {
        try await with(kind) { feeds in
            let feed = feeds.feed
            try await withThrowingTaskGroup(of: Int.self) { group in
                let isOver = Latch()
                for _ in 0..<4 {
                    group.addTask {
                        var last = 0, read = 0
                        while isOver.arrived == 0 || read == 0 {
                            do throws(BackplaneError) {
                                for try await number in feed.numbers(0) {
                                    if number < last { Issue.record("\(number) after \(last)") }
                                    (last, read) = (number, read + 1)
                                    if read.isMultiple(of: 7) { break }
                                }
                            } catch {
                                guard error.code == .streamInterrupted else { throw error }
                            }
                        }
                        return read
                    }
                }
                for edition in 2...20 { try await feeds.swap(FeedScript(edition)) }
                isOver.open()
                await isOver.pass()
                for try await read in group { #expect(read > 0) }
            }
            await eventually { await feeds.host.coordinator.openStreams == 0 }
            await eventually { feeds.record.events.count { $0.hasPrefix("gone") } == 19 }
        }
    }
}

/// A number that several tasks read and write.
private final class Count: Sendable {
    private let number: Mutex<Int>

    init(_ number: Int) { self.number = Mutex(number) }

    var value: Int {
        get { number.withLock { $0 } }
        set { number.withLock { $0 = newValue } }
    }

    func add() { number.withLock { $0 += 1 } }
}

extension Coordinator {
    fileprivate func streams(of component: String) -> ComponentStreams? {
        live.nodes.first { $0.node.name == component }?.callable?.streams
    }
}
