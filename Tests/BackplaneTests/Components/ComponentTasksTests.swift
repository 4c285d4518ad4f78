import Synchronization
import Testing

@testable import Backplane

@Suite(.timeLimit(.minutes(5))) struct ComponentTasksTests {
    @Test func `stopping cancels what runs and waits for it`() async {
        let tasks = ComponentTasks()
        let (started, begin) = AsyncStream.makeStream(of: Void.self)
        let ended = Mutex(false)
        tasks.run {
            begin.finish()
            try? await Task.sleep(for: .seconds(3_600))
            ended.withLock { $0 = true }
        }
        for await _ in started {}

        await tasks.stop()

        #expect(ended.withLock { $0 })
    }

    @Test func `nothing starts after the stop`() async {
        let tasks = ComponentTasks()
        await tasks.stop()
        tasks.run { Issue.record("started after the stop") }
        await tasks.stop()
    }
}
