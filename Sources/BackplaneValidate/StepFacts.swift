import Backplane
import BackplaneTerminal
import CBackplaneHost

/// How many instructions its entry takes, counted one at a time.
enum StepFacts: Codable, Sendable, Hashable {
    case counted(UInt64)
    /// So many took all the steps that there are.
    case moreThan(UInt64)
    /// So many up to a system call that is not made a step at a time.
    case before(call: String, UInt64)
    /// This machine has no steps.
    case notCounted

    /// Enough for every entry in C: `bp_check_self()` takes up to 70,000. One in Swift takes millions, which would be a minute; this is
    /// one to three seconds.
    static let limit: UInt64 = 100_000

    var text: String {
        switch self {
        case .counted(let count): "\(count) instructions"
        case .moreThan(let count): "more than \(count) instructions"
        case .before(let call, let count): "\(count) instructions before its system call \(call), from which on nobody counts"
        case .notCounted: "this machine lets nobody count instructions"
        }
    }
}

extension Candidate {
    /// In a trial of its own: an entry is called once for each copy, and its time is another with a trap after every instruction.
    func steps() throws(BackplaneError) -> StepFacts {
        let entry = try entry(), call = EntryCall(entry)
        note("its entry ran an instruction at a time")
        var count = bph_count()
        bph_step({ EntryCall.run($0) }, call.context, unsafeBitCast(entry, to: UInt.self), StepFacts.limit, &count)
        return switch count.how {
        case BPH_COUNTED: .counted(count.instructions)
        case BPH_COUNTED_IN_PART where count.before_call < 0: .moreThan(count.instructions)
        case BPH_COUNTED_IN_PART: .before(call: SystemCall.name(count.before_call), count.instructions)
        default: .notCounted
        }
    }
}
