import Backplane
import CBackplane

/// Which methods answer, by themselves or when they are cancelled: the trial has an end where all do.
struct CancellationFacts: Codable, Sendable {
    /// Of those components that could be activated, and of all.
    var methods = 0, declared = 0
    /// Components that cannot be told.
    var deaf: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        [.cancellation: methods == 0 ? .notApplicable(CallInput.none(declared)) : .passed(deaf.map { "\($0) has no `cancel` function, and answered without" })]
    }
}

extension Interview {
    func cancellation() throws(BackplaneError) -> CancellationFacts {
        var facts = CancellationFacts(declared: declaredMethods)
        try withActive { instance in
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
                for input in CallInput.samples { _ = call(method, input, instance, cancels: subject.component.cancel != nil) }
            }
            StubServices.giveUp()
        }
        facts.conduct = conduct()
        return facts
    }
}
