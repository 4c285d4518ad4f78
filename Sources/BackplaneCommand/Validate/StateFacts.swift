import Backplane
import CBackplane

/// What becomes of state on its way from one instance to another.
struct StateFacts: Codable, Sendable {
    var components = 0
    var findings: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        [.state: components == 0 ? .notApplicable("no component has state") : Verdict(findings: findings)]
    }
}

extension Interview {
    func state() throws(BackplaneError) -> StateFacts {
        var facts = StateFacts()
        for subject in subjects {
            guard let state = subject.state, let export = state.export_state, let take = state.import_state else { continue }
            guard let old = try? make(subject), let new = try? make(subject, "a second ") else { continue }
            facts.components += 1
            func exported(_ instance: Instance) -> Question.Answer {
                run("asked for its state", instance, kind: .state) { export($0, state.version, Question.done, $1) }
            }
            if let answer = run("activated", subject.component.activate, old), !answer.isOK { continue }
            _ = run("suspended", subject.component.suspend, old)
            let first = exported(old)
            guard first.isOK else {
                facts.findings.append("\(subject.name) does not export its state")
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
            release(new)
            release(old)
        }
        facts.conduct = conduct()
        return facts
    }
}
