import Backplane
import CBackplane

/// What becomes of state on its way from one instance to another.
struct StateFacts: Codable, Sendable {
    /// Those with state that could be made twice and activated, and all.
    var components = 0, declared = 0
    var findings: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        guard components == 0 else { return [.state: Verdict(findings: findings)] }
        return [.state: .notApplicable(declared == 0 ? "no component has state" : "no component with state could be made twice and activated")]
    }
}

extension Interview {
    func state() throws(BackplaneError) -> StateFacts {
        var facts = StateFacts()
        for subject in subjects {
            guard let state = subject.state, let export = state.export_state, let take = state.import_state else { continue }
            facts.declared += 1
            guard let old = try? make(subject) else { continue }
            defer { release(old) }
            guard let new = try? make(subject, "a second ") else { continue }
            defer { release(new) }
            func exported(_ instance: Instance) -> Question.Answer {
                run("asked for its state", instance, kind: .state) { export($0, state.version, Question.done, $1) }
            }
            if let answer = run("activated", subject.component.activate, old), !answer.isOK { continue }
            facts.components += 1
            _ = run("suspended", subject.component.suspend, old)
            let first = exported(old)
            guard first.isOK else {
                facts.findings.append("\(subject.name) does not export its state: \(first.reason)")
                continue
            }
            let taken = run("handed the state that it exported", new) { instance, context in
                first.payload.withBytes { take(instance, state.version, $0, Question.done, context) }
            }
            if !taken.isOK {
                facts.findings.append("\(subject.name) does not import what it exported: \(taken.reason)")
            } else if exported(new).payload != first.payload {
                facts.findings.append("\(subject.name) exports other bytes than it imported; encode dictionaries and sets in a fixed order")
            }
        }
        facts.conduct = conduct()
        return facts
    }
}
