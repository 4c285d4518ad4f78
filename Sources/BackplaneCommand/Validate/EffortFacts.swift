import Backplane
import CBackplaneHost

/// What its entry costs.
struct EffortFacts: Codable, Sendable {
    /// Instructions, or where those are not counted nanoseconds.
    var count: UInt64
    var isInstructions: Bool

    var verdicts: Verdicts {
        let text = isInstructions
            ? "\(count) instructions" : "\((count + 500) / 1_000) µs on the processor; this machine lets nobody count instructions"
        return [.effort: .passed([text])]
    }
}

extension Candidate {
    func effort() throws(BackplaneError) -> EffortFacts {
        let call = EntryCall(try entry())
        note("its entry ran")
        var count: UInt64 = 0
        let isCounted = bph_count_instructions({ EntryCall.run($0) }, call.context, &count)
        return EffortFacts(count: count, isInstructions: isCounted != 0)
    }
}
