import Backplane
import BackplaneDocuments
import CBackplane
import FoundationEssentials

/// The results of handing over state from one instance to another.
struct StateFacts: Codable, Sendable {
    /// The number of stateful components that could be created twice and activated, and of all stateful components.
    var components = 0, declared = 0
    /// The components that could not be tested, with their reasons.
    var untried: [String] = []
    var findings: [String] = []
    var remarks: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        if declared == 0 { return [.state: .notApplicable("no component has state")] }
        guard components > 0 else {
            return [
                .state: .skipped(
                    (["not checked, because no component with state could be created twice and activated"] + untried)
                        .joined(
                            separator: "; "))
            ]
        }
        return [
            .state: Verdict(findings: findings, remarks: untried.map { "not checked, because \($0)" } + remarks)
        ]
    }
}

extension StateFacts {
    /// Compares the state that an instance has imported with the one that it exports.
    mutating func compare(_ imported: Data, _ exported: Data, of component: String) {
        switch JSONComparison(imported, exported) {
        case .equal: break
        case .reordered:
            remarks.append("\(component) exports arrays in a different order than it imported them, as with a `Set`")
        case .different:
            findings.append(
                "\(component) exports a different state than it imported; `importState` must adopt all of it")
        }
    }
}

extension ComponentProbe {
    func state() throws(BackplaneError) -> StateFacts {
        var facts = StateFacts()
        for subject in subjects {
            guard let state = subject.state, let export = state.export_state, let take = state.import_state else {
                continue
            }
            facts.declared += 1
            let old: ProbedInstance, new: ProbedInstance
            do throws(BackplaneError) {
                old = try activated(subject)
            } catch {
                facts.untried.append("\(subject.name) \(error.message)")
                continue
            }
            defer { release(old) }
            do throws(BackplaneError) {
                new = try make(subject, "a second ")
            } catch {
                facts.untried.append("a second \(subject.name) could not be created: \(error.message)")
                continue
            }
            defer { release(new) }
            func exported(_ instance: ProbedInstance) -> Question.Answer {
                run("asked for its state", instance, kind: .state) { export($0, state.version, Question.done, $1) }
            }
            facts.components += 1
            _ = run("suspended", subject.component.suspend, old)
            let first = exported(old)
            guard first.isOK else {
                facts.findings.append("\(subject.name) does not export its state: \(first.reason)")
                continue
            }
            let taken = run("given the state that it exported", new) { instance, context in
                first.payload.withBytes { take(instance, state.version, $0, Question.done, context) }
            }
            if !taken.isOK {
                facts.findings.append("\(subject.name) does not import what it exported: \(taken.reason)")
                continue
            }
            facts.compare(Data(first.payload), Data(exported(new).payload), of: subject.name)
        }
        facts.conduct = conduct()
        return facts
    }
}
