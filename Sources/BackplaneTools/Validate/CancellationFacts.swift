import Backplane
import CBackplane

/// The methods that answer by themselves or when cancelled; the trial completes only if all of them answer.
struct CancellationFacts: Codable, Sendable {
    /// The number of methods of the components that could be activated, and of all components.
    var methods = 0, declared = 0
    /// The components that could not be activated, with their reasons.
    var untried: [String] = []
    /// The components without a `cancel` function.
    var deaf: [String] = []
    /// The methods that ignored a cancellation.
    var findings: [String] = []
    var conduct = Conduct()

    /// The delay after which any answer but `BP_CANCELLED` counts as ignoring the cancellation.
    static let patience = Duration.milliseconds(500)

    var verdicts: Verdicts {
        let remarks = deaf.map { "\($0) has no `cancel` function, and answered without" }
        return [.cancellation: ProbeInput.verdict(methods, of: declared, untried, findings, remarks: remarks)]
    }

    static func isUnheeded(_ status: Int32, after delay: Duration) -> Bool {
        status != Int32(BP_CANCELLED) && delay > patience
    }
}

extension ComponentProbe {
    func cancellation() throws(BackplaneError) -> CancellationFacts {
        var facts = CancellationFacts(declared: declaredMethods)
        // A second answer may come long after the first, so keep the instances for a while.
        facts.untried = withActive(patience: 10) { instance in
            let subject = instance.subject
            facts.methods += subject.callable.count
            if let cancel = subject.component.cancel {
                candidate.note("a call was cancelled that \(subject.name) does not know")
                cancel(instance.pointer, .max)
                StubServices.keepWaiting()
            } else if !subject.methods.isEmpty {
                facts.deaf.append(subject.name)
            }
            for method in subject.callable {
                if subject.component.cancel == nil {
                    for input in ProbeInput.samples { _ = call(method, input, instance) }
                } else {
                    facts.findings += unheeded(method, instance).map { [$0] } ?? []
                }
            }
            StubServices.giveUp()
        }
        facts.conduct = conduct()
        return facts
    }

    /// Cancels calls of a method and returns the first cancellation that it ignored, if any.
    ///
    /// A call must fail twice to count, because the machine may be busy.
    private func unheeded(_ method: Int, _ instance: ProbedInstance) -> String? {
        var found: String?
        for input in ProbeInput.samples {
            var late: (answer: Question.Answer, delay: Duration)?
            for _ in 0..<2 {
                late = cancelledCall(method, input, instance)
                if let late, !CancellationFacts.isUnheeded(late.answer.status, after: late.delay) { break }
            }
            guard found == nil, let late, CancellationFacts.isUnheeded(late.answer.status, after: late.delay) else {
                continue
            }
            let name = "\(instance.subject.name).\(instance.subject.methods[method].name)"
            let tenths = Int64(late.delay / .milliseconds(100))
            found =
                "`\(name)`, called with \(input.name) and cancelled, answered "
                + "\(late.answer.isOK ? "with a result" : "with an error other than BP_CANCELLED")"
                + " \(tenths / 10).\(tenths % 10) s later; when `cancel` is called, answer BP_CANCELLED"
        }
        return found
    }
}
