/// A graph that is a node of another one; its nodes count towards the queue's width, but the graph itself does not.
struct NestedGraph<Output: Sendable>: SuspendableOperation {
    let run: GraphRun<Output>

    func run(_ status: inout NodeStatus) async throws -> Output {
        try await withTaskCancellationHandler {
            run.begin()
            return try await run.value
        } onCancel: {
            run.cancel()
        }
    }

    func pause() async { run.pause() }

    func resume() async { run.resume() }
}
