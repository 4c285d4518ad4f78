import Backplane

/// How methods answer what is no JSON.
struct InputFacts: Codable, Sendable {
    /// Of those components that could be activated, and of all.
    var methods = 0, declared = 0
    /// Those that could not, and why.
    var untried: [String] = []
    var findings: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        [.malformed: CallInput.verdict(methods, of: declared, untried, findings)]
    }
}

extension Interview {
    func input() throws(BackplaneError) -> InputFacts {
        var facts = InputFacts(declared: declaredMethods)
        facts.untried = withActive { instance in
            facts.methods += instance.subject.methods.count
            for method in instance.subject.methods.indices {
                let accepted = CallInput.malformed.filter { call(method, $0, instance).isOK }.map(\.name)
                guard !accepted.isEmpty else { continue }
                let name = "\(instance.subject.name).\(instance.subject.methods[method].name)"
                facts.findings.append("`\(name)` answered \(accepted.joined(separator: ", ")) with a result; answer BP_INVALID_INPUT")
            }
        }
        facts.conduct = conduct()
        return facts
    }
}
