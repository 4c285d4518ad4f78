import Backplane
import BackplaneHost
import CBackplaneHost

/// The system calls of the entry function, and the threads, processes and files that it left behind.
struct CallFacts: Codable, Sendable {
    /// The names of the system calls, or `nil` if they cannot be observed on this system.
    var calls: [String]?
    var left: Remains

    var verdicts: Verdicts {
        [
            .quiet: calls.map { calls in
                Verdict(
                    findings: calls.isEmpty
                        ? []
                        : ["it made the system calls \(calls.joined(separator: ", ")); do that in create or activate"])
            } ?? .skipped("this system does not report system calls"),
            .threads: Verdict(findings: left.running("start it in activate")),
            .files: Verdict(findings: left.open("open it in activate")),
        ]
    }
}

extension Candidate {
    func calls() throws(BackplaneError) -> CallFacts {
        let library = try loaded(prepared()), call = EntryCall(try entry(of: library))
        let before = Remains.Baseline()
        note("its entry ran")
        var noted = bph_noted()
        let isWatched = bph_watch_calls({ EntryCall.run($0) }, call.context, &noted)
        let numbers = withUnsafeBytes(of: &noted.calls) {
            Array($0.bindMemory(to: Int32.self).prefix(Int(noted.count)))
        }
        let left = Remains(since: before, of: library.path)
        return CallFacts(calls: isWatched == 0 ? nil : SystemCall.names(numbers), left: left)
    }
}
