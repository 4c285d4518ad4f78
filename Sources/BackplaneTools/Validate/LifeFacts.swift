import Backplane
import CBackplane

/// The components' answers to the steps of their life cycle, and the resources that they left behind.
struct LifeFacts: Codable, Sendable {
    var findings: [String] = []
    /// The components that could not be activated, with their reasons.
    var refused: [String] = []
    /// The number of components that were activated.
    var lived = 0
    var left = Remains()
    var conduct = Conduct()

    var verdicts: Verdicts {
        let found = left.running("end it in suspend or stop") + left.open("close it in suspend or stop")
        guard lived > 0 || refused.isEmpty else {
            let why = Verdict.skipped(
                "not checked, because no component could be activated: " + refused.joined(separator: "; "))
            return [
                .stop: findings.isEmpty ? why : .failed(findings), .leftovers: found.isEmpty ? why : .failed(found),
            ]
        }
        return [
            .stop: Verdict(findings: findings, remarks: refused.map { "not checked further: \($0)" }),
            .leftovers: Verdict(findings: found),
        ]
    }
}

extension ComponentProbe {
    func life() throws(BackplaneError) -> LifeFacts {
        var facts = LifeFacts()
        for subject in subjects {
            let before = Remains.Baseline()
            guard let instance = try? make(subject) else { continue }
            let component = subject.component
            let steps: [(verb: String, step: bp_step?)] = [
                ("activated", component.activate), ("suspended", component.suspend),
                ("resumed", component.resume ?? component.activate),
                ("stopped", component.stop ?? component.suspend),
            ]
            for (verb, step) in steps {
                guard let answer = run(verb, step, instance), !answer.isOK else {
                    if verb == "activated" { facts.lived += 1 }
                    continue
                }
                // A component whose wires lead to stubs may refuse activation; then it is not stopped, either.
                guard verb != "activated" else {
                    facts.refused.append(
                        "\(subject.name), which answered an error when it was activated: \(answer.reason)")
                    break
                }
                facts.findings.append("\(subject.name) answered an error when it was \(verb): \(answer.reason)")
            }
            release(instance)
            candidate.note("what \(subject.name) had left was looked for")
            facts.left += Remains(since: before, of: copy)
        }
        facts.conduct = conduct()
        return facts
    }
}
