import Backplane
import CBackplaneHost

/// What its entry asked of the system, and what it left.
struct CallFacts: Codable, Sendable {
    /// By their names; `nil`: this system does not tell.
    var calls: [String]?
    var threads, files: [String]

    var verdicts: Verdicts {
        [
            .quiet: calls.map { calls in
                Verdict(findings: calls.isEmpty ? [] : ["it made the system calls \(calls.joined(separator: ", ")); do that in create or activate"])
            } ?? .skipped("this system does not tell what system calls are made"),
            .threads: Verdict(findings: threads.map { "a thread called `\($0)` goes on; start it in activate" }),
            .files: Verdict(findings: files.map { "\($0) is open; open it in activate" }),
        ]
    }
}

extension Candidate {
    func calls() throws(BackplaneError) -> CallFacts {
        let call = EntryCall(try entry())
        let threads = RunningThreads(), files = OpenFiles()
        note("its entry ran")
        var noted = bph_noted()
        let isWatched = bph_watch_calls({ EntryCall.run($0) }, call.context, &noted)
        let numbers = withUnsafeBytes(of: &noted.calls) { Array($0.bindMemory(to: Int32.self).prefix(Int(noted.count))) }
        let left = Remains(since: threads, files)
        return CallFacts(calls: isWatched == 0 ? nil : SystemCall.names(numbers), threads: left.threads, files: left.files)
    }
}
