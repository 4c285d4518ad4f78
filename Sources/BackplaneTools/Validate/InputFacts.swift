import Backplane

/// The answers of methods to malformed JSON.
struct InputFacts: Codable, Sendable {
    /// The number of methods of the components that could be activated, and of all components.
    var methods = 0, declared = 0
    /// The components that could not be activated, with the reasons.
    var untried: [String] = []
    var findings: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        [.malformed: ProbeInput.verdict(methods, of: declared, untried, findings)]
    }
}

extension ComponentProbe {
    func input() throws(BackplaneError) -> InputFacts {
        var facts = InputFacts(declared: declaredMethods)
        facts.untried = withActive { instance in
            facts.methods += instance.subject.callable.count
            for method in instance.subject.callable {
                let accepted = ProbeInput.malformed.filter { call(method, $0, instance).isOK }.map(\.name)
                guard !accepted.isEmpty else { continue }
                let name = "\(instance.subject.name).\(instance.subject.methods[method].name)"
                facts.findings.append(
                    "`\(name)` answered \(accepted.joined(separator: ", ")) with a result; answer BP_INVALID_INPUT")
            }
        }
        facts.conduct = conduct()
        return facts
    }
}
