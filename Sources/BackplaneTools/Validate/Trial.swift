import Backplane

/// An examination of a library in a separate process.
///
/// It yields a value of the type `Facts`; the verdicts follow from that in the parent process.
package enum Trial: String, Sendable {
    /// An examination of the file, without running its code.
    case image
    /// A call of the entry function, as made by a host.
    case answer
    /// Calls that examine the entry function's processor time, system calls, consistency and memory bounds.
    case effort, calls, copies, bounds
    /// Examinations of the components.
    case creation, input, cancellation, streams, life, state
}

/// The outcome of a trial.
enum Observation<Facts: Sendable>: Sendable {
    case seen(Facts)
    /// A host would refuse the library, for this reason.
    case refused(BackplaneError)
    /// The process ended early or exceeded its time limit: the reason, and the last lines it printed.
    case lost([String])

    /// Returns the verdicts on the facts; without facts, the requirements have failed.
    func judged(_ requirements: [Requirement], _ judge: (Facts) -> Verdicts) -> Verdicts {
        switch self {
        case .seen(let facts): judge(facts)
        case .refused(let error): Verdicts(requirements, .failed(error.findings))
        case .lost(let findings): Verdicts(requirements, .failed(findings))
        }
    }

    var facts: Facts? { if case .seen(let facts) = self { facts } else { nil } }
}

extension BackplaneError {
    /// The message followed by those of its causes, without the location, which is always the library.
    var findings: [String] { [message] + causes.flatMap { $0.findings.map { "  " + $0 } } }
}
