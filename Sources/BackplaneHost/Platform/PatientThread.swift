import Backplane

/// Runs what may never come back on a thread that is given up then.
enum PatientThread {
    private struct State<Output> {
        var outputs: [Output] = []
        /// The thread was given up: what it still brings is about nothing.
        var isLost = false
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
            let first = outputs.count, state = Monitor(State<Output>())
            HostThread.launch {
                for index in first..<inputs.count {
                    let output = body(index, inputs[index])
                    let isLost = state.withLock { state in
                        if !state.isLost { state.outputs.append(output) }
                        return state.isLost
                    }
                    if isLost { return }
                }
            }
            var seen = 0, deadline = Deadline.now + limit
            outputs += state.wait { state -> Monitor<State<Output>>.Wait<[Output]> in
                if state.outputs.count == inputs.count - first { return .done(state.outputs) }
                if state.outputs.count > seen { (seen, deadline) = (state.outputs.count, .now + limit) }
                guard Deadline.now >= deadline else { return .until(deadline) }
                state.isLost = true
                return .done(state.outputs)
            }
            if outputs.count < inputs.count { outputs.append(late(outputs.count, inputs[outputs.count])) }
        }
        return outputs
    }
}
