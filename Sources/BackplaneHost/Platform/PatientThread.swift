import Backplane
import Synchronization

/// Runs what may never come back on a thread that is given up then.
enum PatientThread {
    /// What the thread has done. Nobody is woken for a single value: that would cost more than many a value does.
    private final class Progress<Output: Sendable>: Sendable {
        struct State {
            var outputs: [Output] = []
            var last = Deadline.now
            /// The thread was given up: what it still brings is about nothing.
            var isLost = false
        }
        let state = Mutex(State())
        let isDone = Monitor(false)

        /// `false`: nobody wants it any more.
        func add(_ output: Output) -> Bool {
            state.withLock { state in
                guard !state.isLost else { return false }
                state.outputs.append(output)
                state.last = .now
                return true
            }
        }

        /// Waits for the end, or until nothing has come for longer than `limit`.
        func wait(_ limit: Duration) -> [Output] {
            isDone.wait { isDone in
                state.withLock { state -> Monitor<Bool>.Wait<[Output]> in
                    if isDone { return .done(state.outputs) }
                    guard Deadline.now >= state.last + limit else { return .until(state.last + limit) }
                    state.isLost = true
                    return .done(state.outputs)
                }
            }
        }
    }

    /// What `body` makes of each value, one after the other on one thread; with another one for those after a value that took longer
    /// than `limit`.
    ///
    /// - Parameter late: what stands for a value that did.
    static func map<Input: Sendable, Output: Sendable>(
        _ inputs: [Input], limit: Duration, _ body: @escaping @Sendable (Int, Input) -> Output, late: (Int, Input) -> Output
    ) -> [Output] {
        var outputs: [Output] = []
        while outputs.count < inputs.count {
            let first = outputs.count, progress = Progress<Output>()
            HostThread.launch {
                for index in first..<inputs.count {
                    guard progress.add(body(index, inputs[index])) else { return }
                }
                progress.isDone.withLock { $0 = true }
            }
            outputs += progress.wait(limit)
            if outputs.count < inputs.count { outputs.append(late(outputs.count, inputs[outputs.count])) }
        }
        return outputs
    }
}
