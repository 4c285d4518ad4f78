import Backplane

/// One look at a library, in a process of its own. What it saw is of type `Facts`; what that means is judged elsewhere.
package enum Trial: String, Sendable {
    /// The file: nothing of it runs.
    case image
    /// Its entry, asked as a host asks it.
    case answer
    /// The same, with an eye on its time, what it asks of the system, whether it says so twice, and how far it writes.
    case effort, calls, copies, bounds
    /// Its components.
    case creation, input, cancellation, life, state
}

/// What came of a trial.
enum Observation<Facts: Sendable>: Sendable {
    case seen(Facts)
    /// A host would not take it, for this reason.
    case refused(BackplaneError)
    /// Its process came to no end, or to a bad one: how, and what it printed last.
    case lost([String])

    /// What was seen, or what it says of a requirement that it was not.
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
    /// What it says, and below it what it came from; its location is the library that everything here is about.
    var findings: [String] { [message] + causes.flatMap { $0.findings.map { "  " + $0 } } }
}
