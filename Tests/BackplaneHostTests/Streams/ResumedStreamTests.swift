import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Streams with resumable inputs, whose providers are rolled back, have sent in advance or pass on other streams.
@Suite(.timeLimit(.minutes(10)))
struct ResumedStreamTests {
    /// A reader of all numbers, which follow one another whichever edition of the feed sends them.
    private struct Reader {
        private var numbers: StreamElements<Int, BackplaneError>.Iterator
        private var expected = 0

        init(_ feed: Remote<Feeding>) { numbers = feed.counted(CountedFrom(first: 0)).makeAsyncIterator() }

        /// Reads some numbers: more than a batch, of which the last ones come from the edition that is active now.
        mutating func read(_ count: Int = 150, _ location: SourceLocation = #_sourceLocation) async throws {
            for _ in 0..<count {
                let number = try await numbers.next()
                #expect(number == expected, sourceLocation: location)
                expected += 1
            }
        }
    }

    @Test(arguments: StreamSwapTests.Kind.allCases)
    func `a stream that goes on during a probation goes on in the old code when that is taken back`(
        kind: StreamSwapTests.Kind
    ) async throws {
        try await FeedHost.with(isGated: kind.isGated, lanes: kind.lanes) { feeds in
            let feed = feeds.feed, isSick = TestGate()
            var reader = Reader(feed), sick = FeedScript(2)
            sick.health = {
                guard isSick.arrived == 0 else { throw BackplaneError(.componentFailed, "sick") }
            }
            try await reader.read()
            feeds.record.next(sick)
            let swap = Task {
                try await feeds.swap(
                    FeedHost.edition(2),
                    ChangeOptions(
                        probation: Probation(duration: .seconds(600), healthInterval: .seconds(1)),
                        drain: .upTo(.seconds(60), then: .fail)))
            }
            await eventually { (try? feed.edition()) == 2 }
            // Calls reach the new edition a moment before the stream of the old one is interrupted.
            repeat { try await reader.read() } while !feeds.record.events.contains("begin 2")
            try await feeds.test.clock.waiters(for: .seconds(1))
            isSick.open()
            await isSick.passThoughCancelled()
            feeds.test.clock.advance(by: .seconds(1))
            #expect(try await swap.value.outcome == .rolledBack)
            try await reader.read()
            let begun = feeds.record.events.filter { $0.hasPrefix("begin") }
            #expect(begun == ["begin 1", "begin 2", "begin 1"])
        }
    }

    @Test(arguments: StreamSwapTests.Kind.allCases)
    func `a stream that passes on another goes on when the providers of both are swapped together`(
        kind: StreamSwapTests.Kind
    ) async throws {
        try await FeedHost.with(isGated: kind.isGated, lanes: kind.lanes) { feeds in
            var reader = Reader(try await feeds.host.manager("Relay"))
            for edition in 2...40 {
                try await reader.read()
                feeds.record.next(FeedScript(edition))
                try await feeds.swap([FeedHost.edition(edition), FeedHost.readerEdition(edition)])
            }
            try await reader.read()
        }
    }

    @Test(arguments: [false, true])
    func `a stream that was opened by name goes on`(isGated: Bool) async throws {
        try await FeedHost.with(isGated: isGated, lanes: .fastest) { feeds in
            func stream(_ method: String, _ input: String) async throws -> NamedElements.Iterator {
                try await feeds.host.stream("Feed", method, Array(input.utf8), feeds.host.begin()).makeAsyncIterator()
            }
            var counted = try await stream("counted", #"{"first": 5}"#), numbers = try await stream("numbers", "0")
            var expected = 5
            for edition in 2...5 {
                for _ in 0..<3 {
                    let number = try await counted.next().map { String(decoding: $0, as: UTF8.self) }
                    #expect(number == "\(expected)")
                    expected += 1
                }
                try await feeds.swap(FeedScript(edition))
            }
            let number = try await counted.next().map { String(decoding: $0, as: UTF8.self) }
            #expect(number == "\(expected)")
            let ended = await error { while try await numbers.next() != nil {} }
            #expect(ended?.code == .streamInterrupted, "its input does not say where to continue")
        }
    }

    @Test(arguments: [false, true])
    func `what has arrived before a swap is delivered before the stream is opened again`(isGated: Bool) async throws {
        let firsts = Mutex<[Int]>([]), isAlone = (0..<2).map { _ in TestGate() }, sent = TestGate()
        sent.open()
        var script = FeedScript(1)
        script.counted = { first, elements in
            // The first two requests are for smaller batches than the third, which takes all 64.
            for number in 0..<2 {
                try await elements.send(number)
                await isAlone[number].passThoughCancelled()
            }
            for number in 2..<66 { try await elements.send(number) }
            await sent.passThoughCancelled()
            try await Task.sleep(for: .seconds(36_000))
        }
        var second = FeedScript(2)
        second.counted = { first, elements in
            firsts.withLock { $0.append(first) }
            for number in first... { try await elements.send(number) }
        }
        try await FeedHost.with(script, isGated: isGated, lanes: .encoded) { feeds in
            var reader = Reader(feeds.feed)
            for latch in isAlone {
                try await reader.read(1)
                latch.open()
            }
            try await sent.arrivals()
            try await reader.read(1)
            try await feeds.swap(second)
            try await reader.read(63)
            let early = firsts.withLock { $0 }
            #expect(early == [])
            try await reader.read(1)
            let opened = firsts.withLock { $0 }
            #expect(opened == [66])
        }
    }
}
