import Backplane
import CBackplane

/// Which methods answer, by themselves or when they are cancelled: the trial has an end where all do.
struct CancellationFacts: Codable, Sendable {
    /// Of those components that could be activated, and of all.
    var methods = 0, declared = 0
    /// Those that could not, and why.
    var untried: [String] = []
    /// Components that cannot be told.
    var deaf: [String] = []
    /// Methods that were told, and did not listen.
    var findings: [String] = []
    var conduct = Conduct()

    /// Who answers later than that is one who works on after it was cancelled, if not with `BP_CANCELLED`.
    static let patience = Duration.milliseconds(500)

    var verdicts: Verdicts {
        let remarks = deaf.map { "\($0) has no `cancel` function, and answered without" }
        return [.cancellation: CallInput.verdict(methods, of: declared, untried, findings, remarks: remarks)]
    }

    static func isUnheeded(_ status: Int32, after delay: Duration) -> Bool { status != Int32(BP_CANCELLED) && delay > patience }
}

extension Interview {
    func cancellation() throws(BackplaneError) -> CancellationFacts {
        var facts = CancellationFacts(declared: declaredMethods)
        // A second answer may come long after the first.
        facts.untried = withActive(patience: 10) { instance in
            let subject = instance.subject
            facts.methods += subject.methods.count
            if let cancel = subject.component.cancel {
                candidate.note("a call was cancelled that \(subject.name) does not know")
                cancel(instance.pointer, .max)
                StubServices.keepWaiting()
            } else if !subject.methods.isEmpty {
                facts.deaf.append(subject.name)
            }
            for method in subject.methods.indices {
                if subject.component.cancel == nil {
                    for input in CallInput.samples { _ = call(method, input, instance) }
                } else {
                    facts.findings += unheeded(method, instance).map { [$0] } ?? []
                }
            }
            StubServices.giveUp()
        }
        facts.conduct = conduct()
        return facts
    }

    /// Cancels calls of a method; what it made of the first that it did not listen to, twice, since a machine may be busy.
    private func unheeded(_ method: Int, _ instance: Instance) -> String? {
        var found: String?
        for input in CallInput.samples {
            var late: (answer: Question.Answer, delay: Duration)?
            for _ in 0..<2 {
                late = cancelledCall(method, input, instance)
                if let late, !CancellationFacts.isUnheeded(late.answer.status, after: late.delay) { break }
            }
            guard found == nil, let late, CancellationFacts.isUnheeded(late.answer.status, after: late.delay) else { continue }
            let name = "\(instance.subject.name).\(instance.subject.methods[method].name)"
            let tenths = Int64(late.delay / .milliseconds(100))
            found = "`\(name)`, called with \(input.name) and cancelled, answered \(late.answer.isOK ? "with a result" : "with another error than BP_CANCELLED")"
                + " \(tenths / 10).\(tenths % 10) s later; when `cancel` is called, answer BP_CANCELLED"
        }
        return found
    }
}
