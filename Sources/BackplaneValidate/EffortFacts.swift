import Backplane
import CBackplaneHost

/// What its entry costs.
struct EffortFacts: Codable, Sendable {
    /// On the processor.
    var nanoseconds: UInt64
    /// By the processor's counters; `nil`: this process may not use them.
    var instructions: UInt64?

    /// - Parameter steps: what came of counting them one at a time, where there are no counters.
    func verdicts(_ steps: Observation<StepFacts>? = nil) -> Verdicts {
        let count = instructions.map { ["about \($0) instructions"] } ?? steps?.told ?? []
        return [.effort: .passed(count + ["\((nanoseconds + 500) / 1_000) µs on the processor"])]
    }
}

extension Observation<StepFacts> {
    /// No finding against the plugin: without the steps its entry came to its end.
    fileprivate var told: [String] {
        switch self {
        case .seen(let facts): [facts.text]
        case .refused(let error): ["its instructions are not counted:"] + error.findings
        case .lost(let findings): ["its instructions are not counted:"] + findings
        }
    }
}

extension Candidate {
    func effort() throws(BackplaneError) -> EffortFacts {
        let call = EntryCall(try entry())
        // What the way to an entry costs is not its own. Twice: the first time its symbols are looked up.
        let empty = EntryCall { _, _ in 0 }
        var base = bph_count(), count = bph_count()
        for _ in 0..<2 { _ = bph_measure({ EntryCall.run($0) }, empty.context, &base) }
        note("its entry ran")
        let time = bph_measure({ EntryCall.run($0) }, call.context, &count)
        guard count.how == BPH_COUNTED, base.how == BPH_COUNTED else { return EffortFacts(nanoseconds: time) }
        return EffortFacts(nanoseconds: time, instructions: max(count.instructions, base.instructions) - base.instructions)
    }
}
