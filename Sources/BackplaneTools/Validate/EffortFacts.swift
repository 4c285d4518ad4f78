import Backplane
import CBackplane
import Glibc

/// The processor time of the entry function.
struct EffortFacts: Codable, Sendable {
    /// The processor time, in nanoseconds.
    var nanoseconds: UInt64

    var verdicts: Verdicts {
        [.effort: .passed(["\((nanoseconds + 500) / 1_000) µs on the processor"])]
    }
}

extension Candidate {
    func effort() throws(BackplaneError) -> EffortFacts {
        let entry = try entry()
        var answer = bp_answer()
        answer.size = UInt32(MemoryLayout<bp_answer>.size)
        note("its entry ran")
        let began = Self.processorTime
        _ = PlainOffer.ask(entry, &answer)
        return EffortFacts(nanoseconds: Self.processorTime - began)
    }

    /// The processor time of the current thread, in nanoseconds.
    private static var processorTime: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
