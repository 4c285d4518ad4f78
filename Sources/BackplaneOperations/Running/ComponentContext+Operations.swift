public import Backplane

extension ManagerContext where Owner: Component {
    /// The component's queue of graphs, which are cancelled when the component stops.
    ///
    /// A swap waits until they have ended, or hands them over to newer code if they have a definition
    /// (``GraphQueue/define(_:_:)``).
    ///
    /// ```swift
    /// let run = context.operations.start(try synchronise())
    /// ```
    public var operations: GraphQueue { ownQueue }
}

extension CommunicationContext where Owner: Component {
    /// The component's queue of graphs, which are cancelled when the component stops.
    ///
    /// A swap waits until they have ended, or hands them over to newer code if they have a definition
    /// (``GraphQueue/define(_:_:)``).
    public var operations: GraphQueue { ownQueue }
}

extension NetworkServiceContext where Owner: Component {
    /// The component's queue of graphs, which are cancelled when the component stops.
    ///
    /// A swap waits until they have ended, or hands them over to newer code if they have a definition
    /// (``GraphQueue/define(_:_:)``).
    public var operations: GraphQueue { ownQueue }
}

extension ComponentContext {
    /// The queue that is created on first use, and ends with the component.
    fileprivate var ownQueue: GraphQueue {
        services.attachments.object {
            let queue = GraphQueue(host: HostGraphs(services))
            tasks.run {
                // Until the component's tasks are cancelled.
                let (signal, continuation) = AsyncStream.makeStream(of: Never.self)
                for await _ in signal {}
                withExtendedLifetime(continuation) { queue.end() }
            }
            return queue
        }
    }
}
