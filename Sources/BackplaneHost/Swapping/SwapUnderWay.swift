import Backplane

/// Takes what is in force on probation, once callers see it.
typealias ProbationReport = @Sendable ([PluginChange]) -> Void

/// A swap that is being made. Only the coordinator touches it.
final class SwapUnderWay {
    let options: SwapOptions
    let replacements: [Replacement]
    /// In the order of creation.
    let members: [SwapMember]
    let plan: SwapPlan
    /// What is in force before and, if it succeeds, after it.
    let before, after: LoadedManifest
    /// The nodes before it, by their places.
    let nodes: [LiveNode]
    /// Nodes that change and are not up: nobody starts them meanwhile.
    let dormant: [LiveNode]
    let asked: Deadline

    var machine: SwapMachine
    var report = SwapReport(.swapped)
    var isOnProbation = false
    var reportProbation: ProbationReport?
    /// Managers that came up since the flip, from code that was taken back.
    var interrupted: [String] = []
    /// Wires lead, or will lead, to the new instances.
    var isFlipped = false
    /// Wires lead, or will lead, to the old ones again, after a failed probation.
    var isTakenBack = false
    /// The numbers of those that come back, or are made again, when it is taken back: they may call one another before the gates open.
    var returning: Set<UInt16>
    /// When callers were first served by the new code.
    var served: Deadline?
    /// What its end is waited for by.
    private(set) var waiting: [UnsafeContinuation<Void, Never>] = []

    init(
        _ members: [SwapMember], _ plan: SwapPlan, from before: LoadedManifest, to after: LoadedManifest, _ nodes: [LiveNode], _ replacements: [Replacement],
        _ options: SwapOptions, asked: Deadline
    ) {
        (self.members, self.plan, self.before, self.after, self.nodes) = (members, plan, before, after, nodes)
        (self.replacements, self.options, self.asked) = (replacements, options, asked)
        returning = Set(members.compactMap(\.old?.number))
        let staying = Set(plan.kept.keys), up = Set(members.compactMap { $0.old?.id })
        dormant = nodes.enumerated().filter { !staying.contains($0.offset) && !up.contains($0.element.id) }.map(\.element)
        machine = SwapMachine(
            members.map { SwapMachine.Member(isGated: $0.plan.isGated, hasOld: $0.old != nil, carriesState: $0.plan.state.isCarried) },
            onProbation: options.probation != nil)
    }

    var gated: [SwapMember] { members.filter(\.plan.isGated) }

    var stepLimit: Duration { .seconds(options.stepLimit) }

    /// Notes how long a step took.
    func note(_ step: SwapStep, _ duration: Duration) {
        if let index = report.steps.firstIndex(where: { $0.step == step }) {
            report.steps[index].milliseconds += duration.milliseconds
        } else {
            report.steps.append(StepTime(step: step, milliseconds: duration.milliseconds))
        }
    }

    /// Returns once it is over.
    func wait(on coordinator: isolated Coordinator) async {
        await withUnsafeContinuation { waiting.append($0) }
    }

    func end() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}

extension Duration {
    var milliseconds: Double { Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15 }
}
