import BackplaneNetwork
import Synchronization
import Testing

struct AlarmsTests {
    @Test("alarms are called in the order of their times, whichever was set first")
    func order() async throws {
        try await withLonger(.seconds(1)) { limit in
            let alarms = Alarms(), called = Mutex<[Int]>([]), time = ContinuousClock.now + limit
            var isSetInTime = false
            await withCheckedContinuation { continuation in
                // All are due when the task wakes up for the first of them.
                for number in [3, 1, 4, 2] {
                    _ = alarms.set(at: time + .nanoseconds(number)) {
                        called.withLock { $0.append(number) }
                        if number == 4 { continuation.resume() }
                    }
                }
                isSetInTime = ContinuousClock.now < time
            }
            if isSetInTime { #expect(called.withLock { $0 } == [1, 2, 3, 4]) }
            return isSetInTime
        }
    }

    @Test("an alarm that was removed is not called, and later ones are")
    func removed() async throws {
        try await withLonger(.seconds(1)) { limit in
            let alarms = Alarms(), called = Mutex<[Int]>([]), time = ContinuousClock.now + limit
            var isRemovedInTime = false
            await withCheckedContinuation { continuation in
                let removed = alarms.set(at: time) { called.withLock { $0.append(1) } }
                _ = alarms.set(at: time + .milliseconds(1)) { continuation.resume() }
                alarms.remove(removed)
                isRemovedInTime = ContinuousClock.now < time
            }
            if isRemovedInTime { #expect(called.withLock { $0 }.isEmpty) }
            return isRemovedInTime
        }
    }

    @Test("an alarm whose time has passed is called, and so is one that another alarm sets")
    func nested() async {
        let alarms = Alarms()
        await withCheckedContinuation { continuation in
            _ = alarms.set(at: .now - .seconds(1)) {
                _ = alarms.set(at: .now) { continuation.resume() }
            }
        }
    }

    @Test("of a thousand alarms each is called once")
    func many() async {
        let alarms = Alarms(), now = ContinuousClock.now
        let (calls, call) = AsyncStream.makeStream(of: Int.self)
        for number in 0..<1_000 {
            _ = alarms.set(at: now + .milliseconds(number * 7 % 100)) { call.yield(number) }
        }
        var called: Set<Int> = []
        for await number in calls {
            #expect(called.insert(number).inserted)
            if called.count == 1_000 { break }
        }
        try? await Task.sleep(for: .milliseconds(50))
        call.finish()
        for await number in calls { Issue.record("\(number) was called again") }
    }
}
