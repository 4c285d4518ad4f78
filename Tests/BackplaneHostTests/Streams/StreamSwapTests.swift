import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
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
                try await feeds.record.until { $0.contains("gone \(edition - 1)") }
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `a body that ignores its cancellation holds up the release, and not the swap`(kind: Kind) async throws {
        let latch = TestGate()
        let stubborn = FeedScript(1) { _, elements in
            try await elements.send(1)
            await latch.passThoughCancelled()
            // The component is still there, whoever has been swapped in meanwhile.
            try? await elements.send(2)
        }
        try await with(kind, stubborn) { feeds in
            let feed = feeds.feed
            let reader = Task { await error { for try await number in feed.numbers(0) { #expect(number == 1) } } }
            try await latch.arrivals()
            try await feeds.swap(FeedScript(2))
            #expect(await reader.value?.code == .streamInterrupted)
            #expect(try feed.edition() == 2)
            try await feeds.swap(FeedScript(3))
            try await feeds.record.until { $0.contains("gone 2") }
            #expect(!feeds.record.events.contains("gone 1"))
            let holders = try await feeds.host.generations(of: FeedHost.plugin).first?.heldBy ?? []
            #expect(holders.contains("1 stream of Feed whose body has not returned"), "\(holders)")
            latch.open()
            try await feeds.record.until { $0.contains("gone 1") }
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
            let feed = feeds.feed, isSick = TestGate()
            var sick = FeedScript(2)
            sick.health = {
                guard isSick.arrived == 0 else { throw BackplaneError(.componentFailed, "sick") }
            }
            feeds.record.next(sick)
            let swap = Task {
                try await feeds.swap(
                    FeedHost.edition(2),
                    ChangeOptions(
                        probation: Probation(duration: .seconds(600), healthInterval: .seconds(1)),
                        drain: .upTo(.seconds(60), then: .fail)))
            }
            await eventually { (try? feed.edition()) == 2 }
            var iterator = feed.numbers(0).makeAsyncIterator()
            #expect(try await iterator.next() == 2)
            try await feeds.test.clock.waiters(for: .seconds(1))
            isSick.open()
            await isSick.passThoughCancelled()
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

    @Test(arguments: Kind.allCases)
    func `the streams of a component that is swapped are closed`(kind: Kind) async throws {
        let silent = FeedScript(1) { _, _ in try await Task.sleep(for: .seconds(36_000)) }
        try await with(kind, silent, reading: { feed, call in for try await _ in feed.numbers(0, call) {} }) { feeds in
            let reader = feeds.reader
            try await feeds.host.start()
            try await feeds.record.until { $0 == ["begin 1"] }
            try await feeds.swap(FeedHost.readerEdition(2))
            try await feeds.record.until { $0.sorted() == ["begin 1", "begin 1", "end 1"] }
            try await reader.until { $0 == ["failed: call.retired"] }
            try await feeds.swap(FeedHost.readerEdition(3))
            try await reader.until { $0 == ["failed: call.retired", "failed: call.retired"] }
        }
        // The host has stopped: nobody reads any more.
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
    func `streams are opened and closed while their provider is swapped`(kind: Kind) async throws {
        try await with(kind) { feeds in
            let feed = feeds.feed
            try await withThrowingTaskGroup(of: Int.self) { group in
                let isOver = TestGate()
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
                await isOver.passThoughCancelled()
                for try await read in group { #expect(read > 0) }
            }
            await eventually { await feeds.host.coordinator.openStreams == 0 }
            try await feeds.record.until { $0.count { $0.hasPrefix("gone") } == 19 }
        }
    }
}
