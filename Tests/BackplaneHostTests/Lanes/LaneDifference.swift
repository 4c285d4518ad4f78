import Backplane
import BackplaneTestKit
import Foundation
import Glibc
import ParityContracts
import Testing

@testable import BackplaneHost

/// One line of the list in docs/lanes.md, and the proof that it is so.
struct LaneDifference: Sendable, CustomTestStringConvertible {
    let title: String
    let proof: @Sendable (BothLanes) async throws -> Void
    var testDescription: String { title }

    /// In the order of the list.
    static let all = [
        LaneDifference(title: "Deadlines", proof: deadlines),
        LaneDifference(title: "A call that is cancelled before it begins", proof: earlyCancellation),
        LaneDifference(title: "Whose task it is", proof: task),
        LaneDifference(title: "Priority raised during a call", proof: raisedPriority),
        LaneDifference(title: "Where a method continues", proof: executor),
        LaneDifference(title: "Numbers that JSON does not have", proof: nonFiniteNumbers),
        LaneDifference(title: "Optionals of what may be nothing itself", proof: nestedOptionals),
        LaneDifference(title: "What a `Codable` omits", proof: droppedProperties),
        LaneDifference(title: "What a `Codable` checks", proof: checksInDecoding),
        LaneDifference(title: "A relative `URL`", proof: relativeURLs),
        LaneDifference(title: "Escapes in `URLComponents`", proof: escapes),
        LaneDifference(title: "The seconds of a `TimeZone`", proof: timeZoneSeconds),
        LaneDifference(title: "A slice of `Data`", proof: slices),
        LaneDifference(title: "The order of a `Set` or `Dictionary`", proof: order),
        LaneDifference(title: "Deeply nested values", proof: nesting),
        LaneDifference(title: "Deeply nested causes", proof: nestedCauses),
        LaneDifference(title: "Elements sent in advance", proof: elementsInAdvance),
        LaneDifference(title: "An element that JSON does not have", proof: unusualElements),
    ]
}

extension LaneDifference {
    // MARK: Calls

    private static let limit = Duration.farAway

    private static func deadlines(_ lanes: BothLanes) async throws {
        // It goes by the system's clock: a deadline may pass before its call has begun, which is then repeated.
        let limits = [Duration.milliseconds(50), .seconds(1), .seconds(10)]
        // `withDeadline` ends a call in either lane, and cancels it: it would be held for ever.
        let ended = try await lanes.taskContext { lane, taskContext -> Bool? in
            for limit in limits {
                let call = Call(within: limit)
                let held = Task { try await withDeadline(call) { try await taskContext.hold(call) } }
                while try taskContext.held() == 0, !call.isLate { await Task.yield() }
                defer { while (try? taskContext.held()) != 0 { sched_yield() } }
                guard try taskContext.held() == 1 else {
                    held.cancel()
                    _ = await held.result
                    continue
                }
                return try await held.value > 0
            }
            return nil
        }
        #expect(ended.native.code == .callDeadline)
        #expect(ended.encoded.code == .callDeadline)

        let held = try await lanes.taskContext { lane, taskContext in
            let call = Task { try await taskContext.hold(lane.test.host.begin(within: limit)) }
            try await eventually { try taskContext.held() == 1 }
            lane.test.clock.advance(by: limit)
            if lane.isNative { _ = try taskContext.letGo() }
            return try await call.value > 0
        }
        #expect(held.native == .success(true))
        #expect(held.encoded.code == .callDeadline)

        let outlasted = try await lanes.taskContext { lane, taskContext in
            if lane.isNative { return try taskContext.outlast(0, Call(within: .milliseconds(50))) }
            // The call blocks a thread for a while, in which another one advances the clock, if it comes to it.
            for seconds in [0.05, 1, 10] {
                let call = lane.test.host.begin(within: limit), left = (call.timeLeft ?? .zero) / .seconds(1)
                let time = Task { @concurrent in try await lane.test.clock.expire(limit) }
                defer { time.cancel() }
                _ = try taskContext.outlast(seconds - left, call)
            }
            return "within the deadline"
        }
        #expect(outlasted.native == .success("outlasted"))
        #expect(outlasted.encoded.code == .callDeadline)
    }

    private static func earlyCancellation(_ lanes: BothLanes) async throws {
        let isCancelled = try await lanes.taskContext { _, taskContext in
            try await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await taskContext.isCancelled()
            }.value
        }
        #expect(isCancelled.native == .success(true))
        #expect(isCancelled.encoded == .success(false))
    }

    private static func task(_ lanes: BothLanes) async throws {
        let name = try await lanes.taskContext { _, taskContext in
            try await Task(name: "the caller's") { try await taskContext.taskName() }.value
        }
        #expect(name.native == .success("the caller's"))
        #expect(name.encoded == .success(nil))
    }

    private static func raisedPriority(_ lanes: BothLanes) async throws {
        let priority = try await lanes.taskContext { _, taskContext in
            let call = Task.detached(priority: .low) { try await taskContext.hold() }
            try await eventually { try taskContext.held() == 1 }
            call.escalatePriority(to: .high)
            _ = try taskContext.letGo()
            return try await call.value
        }
        #expect(try priority.native.get() >= TaskPriority.high.rawValue)
        #expect(try priority.encoded.get() < TaskPriority.high.rawValue)
    }

    private static func executor(_ lanes: BothLanes) async throws {
        let isCallers = try await lanes.taskContext { _, taskContext in
            let caller = Caller(), threads = try await caller.threads(taskContext)
            return threads.called.map { $0 == threads.own }
        }
        #expect(isCallers.native == .success([true, true]))
        #expect(
            try isCallers.encoded.get().last == false,
            "where it begins is the compiler's affair, where it goes on is not")
    }

    // MARK: Values

    private static func nonFiniteNumbers(_ lanes: BothLanes) async throws {
        let double = try await lanes.values { try await $0.double(.infinity).value }
        #expect(double.native == .success(.infinity))
        #expect(double.encoded.code == .callInvalidInput)
        let float = try await lanes.values { try await $0.float(.nan).value.isNaN }
        #expect(float.native == .success(true))
        #expect(float.encoded.code == .callInvalidInput)
        let date = try await lanes.values {
            try await $0.date(Date(timeIntervalSinceReferenceDate: -.infinity)).value.timeIntervalSinceReferenceDate
        }
        #expect(date.native == .success(-.infinity))
        #expect(date.encoded.code == .callInvalidInput)
        let decimal = try await lanes.values { try await $0.decimal(.nan).value.isNaN }
        #expect(decimal.native == .success(true))
        #expect(decimal.encoded.code == .callInvalidInput)
    }

    private static func nestedOptionals(_ lanes: BothLanes) async throws {
        let optional = try await lanes.values { try await $0.nested(.some(nil)).value }
        #expect(optional.native == .success(.some(nil)))
        #expect(optional.encoded == .success(.none))
        let nothing = try await lanes.values { try await $0.perhapsNothing(.some(Nothing())).value }
        #expect(nothing.native == .success(.some(Nothing())))
        #expect(nothing.encoded == .success(.none))
    }

    private static func droppedProperties(_ lanes: BothLanes) async throws {
        let value = try await lanes.values { try await $0.forgetful(Forgetful(kept: 1, dropped: 2)).value }
        #expect(value.native == .success(Forgetful(kept: 1, dropped: 2)))
        #expect(value.encoded == .success(Forgetful(kept: 1, dropped: 0)))
    }

    private static func checksInDecoding(_ lanes: BothLanes) async throws {
        let value = try await lanes.values { try await $0.strict(Strict(unchecked: 101)).value }
        #expect(value.native == .success(Strict(unchecked: 101)))
        #expect(value.encoded == .failure(BackplaneError(.callInvalidInput, "101 is no percentage")))
    }

    private static func relativeURLs(_ lanes: BothLanes) async throws {
        let relative = URL(string: "x/y", relativeTo: URL(string: "http://a/b/"))!
        let url = try await lanes.values { try await $0.url(relative).value }
        #expect(url.native == .success(relative))
        #expect(url.encoded == .success(URL(string: "http://a/b/x/y")!))
    }

    private static func escapes(_ lanes: BothLanes) async throws {
        let text = try await lanes.values {
            try await $0.urlComponents(URLComponents(string: "http://a/b%2Fc?x=%41")!).value.string
        }
        #expect(text.native == .success("http://a/b%2Fc?x=%41"))
        #expect(text.encoded == .success("http://a/b/c?x=A"))
    }

    private static func timeZoneSeconds(_ lanes: BothLanes) async throws {
        let place = Place(.current, TimeZone(secondsFromGMT: 3_661)!, .current, DateComponents(), DateInterval(), [])
        let seconds = try await lanes.values { try await $0.place(place).value.timeZone.secondsFromGMT() }
        #expect(seconds.native == .success(3_661))
        #expect(seconds.encoded == .success(3_660))
    }

    private static func slices(_ lanes: BothLanes) async throws {
        let slice = Data([1, 2, 3, 4])[2...]
        let data = try await lanes.values { try await $0.data(slice).value }
        #expect(data.native == .success(slice) && data.encoded == .success(slice), "the bytes are the same")
        #expect(data.native.map(\.indices) == .success(2..<4))
        #expect(data.encoded.map(\.indices) == .success(0..<2))
    }

    private static func order(_ lanes: BothLanes) async throws {
        // In tables of another size the same numbers stand in another order.
        var set = Set<Int>(minimumCapacity: 5_000), dictionary = [Int: String](minimumCapacity: 5_000)
        for number in 0..<200 {
            set.insert(number)
            dictionary[number] = ""
        }
        let numbers = try await lanes.values { try await $0.set(set).value }
        #expect(numbers.native == .success(set) && numbers.encoded == .success(set))
        #expect(numbers.native.map(Array.init) == .success(Array(set)))
        #expect(numbers.encoded.map(Array.init) != .success(Array(set)))
        let texts = try await lanes.values { try await $0.byNumber(dictionary).value }
        #expect(texts.native == .success(dictionary) && texts.encoded == .success(dictionary))
        #expect(texts.native.map { Array($0.keys) } == .success(Array(dictionary.keys)))
        #expect(texts.encoded.map { Array($0.keys) } != .success(Array(dictionary.keys)))
    }

    private static func nesting(_ lanes: BothLanes) async throws {
        // Each level of the tree is three of JSON, and what the tree is in is one more.
        let tree = try await lanes.values { try await $0.tree(.high(200)).value }
        #expect(tree.native == .success(.high(200)))
        #expect(tree.encoded.code == .callInvalidInput)
    }

    private static func nestedCauses(_ lanes: BothLanes) async throws {
        let thrown = try await lanes.failures { failures in try await failures.failDeep(300) }
        #expect(thrown.native.error == .deep(300))
        #expect(thrown.encoded.error?.message == "300")
        let kept = sequence(first: thrown.encoded.error, next: { $0?.causes.first }).prefix { $0 != nil }.count
        #expect(kept == 101, "itself and a hundred below it")
    }
}

extension LaneDifference {
    // MARK: Streams

    private static func elementsInAdvance(_ lanes: BothLanes) async throws {
        let sent = try await lanes.sequences { lane, sequences, watch in
            var iterator = sequences.endless().makeAsyncIterator()
            #expect(try await iterator.next() == 0)
            try await eventually { try watch.counts().sent >= (lane.isNative ? 1 : 65) }
            for _ in 0..<50 { await Task.yield() }
            let sent = try watch.counts().sent
            #expect(try await iterator.next() == 1, "the stream is still open")
            return sent
        }
        #expect(sent.native == .success(1))
        #expect(try (65...128).contains(sent.encoded.get()), "at most what was asked for, and a batch")
    }

    private static func unusualElements(_ lanes: BothLanes) async throws {
        let elements = try await lanes.sequences { _, sequences, _ in
            var elements: [Double] = []
            do throws(BackplaneError) {
                for try await element in sequences.unusual() { elements.append(element) }
            } catch {
                return (elements, error.code as BackplaneError.Code?)
            }
            return (elements, nil)
        }
        #expect(try elements.native.get().0 == [1, .infinity, 2])
        #expect(try elements.encoded.get() == ([1], .callInvalidOutput))
    }
}

extension Call {
    fileprivate var isLate: Bool { timeLeft.map { $0 < .zero } == true }
}

/// Calls from a thread of its own.
private actor Caller {
    private nonisolated let executor = ThreadExecutor(name: "caller")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func threads(_ taskContext: Remote<TaskContext>) async throws -> (own: UInt, called: [UInt]) {
        (UInt(pthread_self()), try await taskContext.threads())
    }

    deinit { executor.retire() }
}
