import Backplane

/// The components that can be created.
struct CreationFacts: Codable, Sendable {
    var made: [String] = []
    /// The components that refused creation, with their reasons.
    var refused: [String] = []
    /// The components that reported success without an instance, or could not be created a second time.
    var findings: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        guard !made.isEmpty || !findings.isEmpty else {
            let why =
                refused.isEmpty
                ? "it registers no components" : "no component could be created: " + refused.joined(separator: "; ")
            return Verdicts(Requirement.ofComponents, .notApplicable(why)).merging(Conduct.verdicts(of: [conduct])) {
                $1.isFailure ? $1 : $0
            }
        }
        return [.creation: Verdict(findings: findings, remarks: refused.map { "not checked: \($0)" })]
    }
}

extension ComponentProbe {
    func creation() throws(BackplaneError) -> CreationFacts {
        var facts = CreationFacts()
        for subject in subjects {
            let first: ProbedInstance
            do throws(BackplaneError) {
                first = try make(subject)
            } catch {
                guard error.code != .pluginInvalidAnswer else {
                    facts.findings.append("\(subject.name) \(error.message)")
                    continue
                }
                facts.refused.append(
                    "\(subject.name), with an empty configuration and wires that answer errors: \(error.message)")
                continue
            }
            facts.made.append(subject.name)
            do throws(BackplaneError) {
                release(try make(subject, "a second "))
            } catch {
                facts.findings.append(
                    "a second \(subject.name) cannot be created beside the first, as in a swap: \(error.message); acquire exclusive resources in activate"
                )
            }
            release(first)
        }
        facts.conduct = conduct()
        return facts
    }
}
