import Backplane
import Synchronization

@testable import BackplaneHost

/// Tasks that count by calling again and again: each answer has to be one more than the previous one.
final class Callers: Sendable {
    private struct State {
        var isOver = false
        var last: [Int] = []
        var complaints: [String] = []
        var tasks: [Task<Void, Never>] = []
        var answers = 0
    }
    private let state = Mutex(State())

    /// Begins one more caller.
    func begin(_ call: @escaping @Sendable () async throws -> Int) {
        state.withLock { state in
            let place = state.last.count
            state.last.append(0)
            state.tasks.append(Task { await run(place, call) })
        }
    }

    private func run(_ place: Int, _ call: @Sendable () async throws -> Int) async {
        while !state.withLock({ $0.isOver }) {
            do {
                let answer = try await call()
                state.withLock { state in
                    if answer != state.last[place] + 1 {
                        state.complaints.append("\(answer) after \(state.last[place])")
                    }
                    state.last[place] = answer
                    state.answers += 1
                }
            } catch {
                state.withLock { $0.complaints.append("\(error)") }
            }
            await Task.yield()
        }
    }

    /// What each was answered last.
    var last: [Int] { state.withLock { $0.last } }
    var answers: Int { state.withLock { $0.answers } }

    /// Ends them all, and gives what was wrong.
    func end() async -> [String] {
        let tasks = state.withLock { state in
            state.isOver = true
            return state.tasks
        }
        for task in tasks { await task.value }
        return state.withLock { $0.complaints }
    }
}

/// Set once.
final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}
