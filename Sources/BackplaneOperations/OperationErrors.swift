public import Backplane

extension BackplaneError.Code {
    /// The nodes of a graph wait for each other in a cycle.
    public static let operationCycle = Self(rawValue: "operation.cycle")
    /// A graph cannot be built or started as described.
    public static let operationRefused = Self(rawValue: "operation.refused")
    /// A node was not run because a node that it needs failed or was cancelled.
    public static let operationUnsatisfied = Self(rawValue: "operation.unsatisfied")
    /// A node did not return within its time limit.
    public static let operationTimeout = Self(rawValue: "operation.timeout")
    /// The work of a node was dropped, or its callback was released, without a report.
    public static let operationAbandoned = Self(rawValue: "operation.abandoned")
}

extension BackplaneError {
    static func cancelled(_ node: String, in graph: String) -> BackplaneError {
        BackplaneError(.callCancelled, "`\(node)` was cancelled", at: graph)
    }

    static func late(_ node: String, in graph: String, after limit: Duration) -> BackplaneError {
        BackplaneError(.operationTimeout, "`\(node)` did not return within \(limit), its time limit", at: graph)
    }

    /// Creates the error for a node that was not run, caused by the error of another node.
    static func unsatisfied(_ node: String, by root: String, _ cause: BackplaneError, in graph: String)
        -> BackplaneError
    {
        BackplaneError(
            .operationUnsatisfied, "`\(node)` was not run, because it needs `\(root)`: \(cause.message)", at: graph,
            causes: [cause])
    }
}
