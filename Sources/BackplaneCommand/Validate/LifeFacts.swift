import Backplane
import CBackplane

/// How components take the steps of their lives, and what they leave.
struct LifeFacts: Codable, Sendable {
    var findings: [String] = []
    /// Those that cannot be activated, and what they say.
    var refused: [String] = []
    var threads: [String] = []
    var files: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        let left = threads.counted.map { "a thread called `\($0.name)` goes on\($0.times); end it in suspend or stop" }
            + files.counted.map { "\($0.name) is open\($0.times); close it in suspend or stop" }
        return [.stop: Verdict(findings: findings, remarks: refused.map { "not tried further: \($0)" }), .leftovers: Verdict(findings: left)]
    }
}

extension [String] {
    /// Each once, and how often it is there where that is more.
    fileprivate var counted: [(name: String, times: String)] {
        Dictionary(map { ($0, 1) }, uniquingKeysWith: +).sorted { $0.key < $1.key }.map { ($0.key, $0.value > 1 ? " \($0.value) times" : "") }
    }
}

extension Interview {
    func life() throws(BackplaneError) -> LifeFacts {
        var facts = LifeFacts()
        for subject in subjects {
            let threads = RunningThreads(), files = OpenFiles()
            guard let instance = try? make(subject) else { continue }
            let component = subject.component
            let steps: [(verb: String, step: bp_step?)] = [
                ("activated", component.activate), ("suspended", component.suspend), ("resumed", component.resume ?? component.activate),
                ("stopped", component.stop ?? component.suspend),
            ]
            for (verb, step) in steps {
                guard let answer = run(verb, step, instance), !answer.isOK else { continue }
                // With wires that lead nowhere it may have every reason; what was not activated is not stopped.
                guard verb != "activated" else {
                    facts.refused.append("\(subject.name), which answered an error when it was activated: \(answer.reason)")
                    break
                }
                facts.findings.append("\(subject.name) answered an error when it was \(verb): \(answer.reason)")
            }
            release(instance)
            let left = Remains(since: threads, files)
            facts.threads += left.threads
            facts.files += left.files
        }
        facts.conduct = conduct()
        return facts
    }
}
