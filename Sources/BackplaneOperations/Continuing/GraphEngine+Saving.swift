import Backplane
import Synchronization

// The crossing of a halted graph to newer code.
extension GraphEngine {
    /// Returns the record of a graph that has been halted; `nil` if handlers are being called because of a change.
    ///
    /// - Throws: `operation.refused` with the value that cannot be encoded.
    func save() throws(BackplaneError) -> GraphRecord? {
        guard let naming else {
            throw BackplaneError(
                .operationRefused, "`\(name)` has no definition, so newer code cannot continue it", at: name)
        }
        // Values are encoded outside the lock: nothing changes them while the graph is halted.
        let scheduler = state.withLock(\.scheduler)
        return scheduler.busy == 0 ? try record(scheduler, naming) : nil
    }

    private func record(_ scheduler: GraphScheduler, _ naming: GraphNaming)
        throws(BackplaneError) -> GraphRecord
    {
        var record = GraphRecord(
            input: naming.input, names: store.steps.map(\.name), edges: GraphRecord.edges(of: scheduler.shape),
            succeeded: [], nodes: [:], values: [:])
        for number in scheduler.nodes.indices {
            let node = scheduler.nodes[number], step = store.steps[number]
            let hasValue = node.outcome == .succeeded && (node.phase == .ended || node.phase == .returned)
            if hasValue, needsValue(of: number, scheduler, naming) { record.values[number] = try step.encodedValue() }
            if node.phase == .ended, node.outcome == .succeeded {
                if record.succeeded.last == number {
                    record.succeeded[record.succeeded.count - 1] = number + 1
                } else {
                    record.succeeded += [number, number + 1]
                }
                continue
            }
            let isPlain =
                node.phase == .waiting && node.marks.subtracting(.announced).isEmpty && node.attempt == 0
                && node.priority == .normal
            if !isPlain { record.nodes[number] = GraphRecord.Node(node, step, number) }
        }
        return record
    }

    /// Returns whether a value has yet to be received: by a node, by handlers, or as the result.
    private func needsValue(of number: Int, _ scheduler: GraphScheduler, _ naming: GraphNaming) -> Bool {
        if number == naming.result || scheduler.nodes[number].phase == .returned { return true }
        for place in scheduler.shape.dependents.range(of: number)
        where scheduler.nodes[scheduler.shape.dependents[place].node].phase != .ended {
            return true
        }
        return false
    }

    /// Takes over a graph of older code, before this one is started.
    ///
    /// - Throws: `operation.changed` with the differences or the value that this code cannot read; nothing is taken
    ///   over in this case.
    func take(_ record: GraphRecord) throws(BackplaneError) {
        let shape = state.withLock { $0.scheduler.shape }
        let differences = record.differences(from: store.steps.map(\.name), GraphRecord.edges(of: shape))
        guard differences.isEmpty else {
            let shown = differences.prefix(5).joined(separator: "; ")
            let more = differences.count > 5 ? "; and \(differences.count - 5) more differences" : ""
            throw BackplaneError(
                .operationChanged, "`\(name)` has changed, so this code cannot continue it: \(shown)\(more)", at: name
            )
        }
        for (number, value) in record.values {
            guard store.steps.indices.contains(number) else { throw BackplaneError.damagedRecord(of: name) }
            do throws(BackplaneError) {
                try store.steps[number].decodeValue(value)
            } catch {
                throw BackplaneError(
                    .operationChanged,
                    "`\(name)` has changed, so this code cannot continue it: the result of "
                        + "`\(store.steps[number].name)` cannot be read: \(error.message)",
                    at: name, causes: [error])
            }
        }
        try takeStates(of: record)
    }

    private func takeStates(of record: GraphRecord) throws(BackplaneError) {
        let count = store.steps.count
        var nodes = state.withLock { $0.scheduler.nodes }
        for place in stride(from: 0, to: record.succeeded.count - 1, by: 2) {
            let (first, end) = (record.succeeded[place], record.succeeded[place + 1])
            guard first >= 0, first < end, end <= count else { throw BackplaneError.damagedRecord(of: name) }
            for number in first..<end { (nodes[number].phase, nodes[number].outcome) = (.ended, .succeeded) }
        }
        for (number, saved) in record.nodes {
            guard nodes.indices.contains(number), saved.set(&nodes[number], count: count) else {
                throw BackplaneError.damagedRecord(of: name)
            }
            let step = store.steps[number]
            if let error = saved.error { (step.failure, step.isFailureKnown) = (error, nodes[number].phase == .ended) }
            step.take(NodeStatus(attempt: Int(saved.attempt), code: saved.code))
        }
        for number in nodes.indices where nodes[number].phase == .ended { store.steps[number].dropBody() }
        state.withLock { $0.scheduler.take(nodes) }
    }

    /// Fails every node that has not ended, except pending finish nodes, with an error.
    func fail(_ error: BackplaneError) {
        change { scheduler, actions in
            for number in scheduler.nodes.indices { store.steps[number].failure = error }
            scheduler.failAll(&actions)
        }
    }
}

extension GraphRecord.Node {
    fileprivate init(_ node: GraphScheduler.Node, _ step: GraphStep, _ number: Int) {
        self.init(
            phase: node.phase.rawValue, outcome: node.outcome.rawValue,
            marks: node.marks.intersection([.held, .doomed, .retries]).rawValue, priority: node.priority.rawValue,
            attempt: node.attempt, cause: node.cause, code: step.statusCode)
        let isRoot = node.outcome == .failed && Int(node.cause) == number
        if isRoot, let failure = step.failure { error = BackplaneError(thrown: failure) }
    }

    /// Restores the state of a node; returns `false` if the saved state is invalid.
    fileprivate func set(_ node: inout GraphScheduler.Node, count: Int) -> Bool {
        guard let phase = GraphScheduler.Phase(rawValue: phase), phase != .running, phase != .settling,
            let outcome = GraphScheduler.Outcome(rawValue: outcome), let priority = NodePriority(rawValue: priority),
            (-1..<count).contains(Int(cause))
        else { return false }
        (node.phase, node.outcome, node.priority, node.attempt, node.cause) = (phase, outcome, priority, attempt, cause)
        node.marks = GraphScheduler.Marks(rawValue: marks)
        return true
    }
}

extension BackplaneError {
    fileprivate static func damagedRecord(of graph: String) -> BackplaneError {
        BackplaneError(.operationChanged, "the saved graph `\(graph)` is damaged", at: graph)
    }
}
