import BackplaneNetwork

/// A stage of the pipeline, which has the schemes and the capabilities of the executor inside it.
protocol PipelineStage: HTTPFileExecutor {
    /// The executor or the stage inside.
    var inside: any HTTPExecutor { get }
}

extension PipelineStage {
    var schemes: [String] { inside.schemes }
    var capabilities: HTTPCapabilities { inside.capabilities }
}

extension HTTPExecutor {
    /// The executor inside all stages.
    var innermost: any HTTPExecutor { (self as? any PipelineStage)?.inside.innermost ?? self }
}
