import Synchronization
import Testing

@testable import Backplane

/// The list of the tasks of native calls.
@Suite(.timeLimit(.minutes(5)))
struct NativeCallsTests {
    private final class Listed: Sendable {
        let count = Atomic(0)
    }

    @Test(arguments: [1, 64, 65, 500]) func `all calls are cancelled, however many`(count: Int) async {
        let calls = NativeCalls(), listed = Listed()
        let tasks = (0..<count).map { _ in
            Task {
                let place = calls.enter()
                listed.count.wrappingAdd(1, ordering: .sequentiallyConsistent)
                defer { calls.leave(place) }
                do { try await Task.sleep(for: .seconds(3_600)) } catch { return true }
                return false
            }
        }
        while listed.count.load(ordering: .sequentiallyConsistent) < count { await Task.yield() }
        calls.cancelAll()
        for task in tasks { #expect(await task.value) }
        calls.free()
    }

    @Test func `a task that has left is not cancelled`() async {
        let calls = NativeCalls()
        let isCancelled = await Task {
            for _ in 0..<200 {
                let places = (0..<3).map { _ in calls.enter() }
                for place in places { calls.leave(place) }
            }
            calls.cancelAll()
            return Task.isCancelled
        }.value
        #expect(!isCancelled)
        calls.free()
    }

    @Test func `calls come and go while others are cancelled`() async {
        let calls = NativeCalls(), isOver = Listed()
        let cancelling = Task.detached {
            while isOver.count.load(ordering: .relaxed) == 0 {
                calls.cancelAll()
                await Task.yield()
            }
        }
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<500 {
                        // Each is a task of its own, which may end as soon as it has left.
                        await Task {
                            let place = calls.enter()
                            defer { calls.leave(place) }
                            await Task.yield()
                        }.value
                    }
                }
            }
        }
        isOver.count.store(1, ordering: .relaxed)
        await cancelling.value
        let place = calls.enter()
        #expect(place != nil, "a task is there")
        calls.leave(place)
        calls.free()
    }
}
