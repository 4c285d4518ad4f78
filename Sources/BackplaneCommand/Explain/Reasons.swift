import Backplane
import BackplaneHost

/// A search for the causes of problems.
struct Reasons {
    private let composition: Composition
    private let problems: [String?: [Problem]]
    /// The managers whose errors have been reported; each is reported once, no matter how many managers use it.
    private var told: Set<String> = []
    /// The maximum depth of a chain of causes; a chain of managers can be as long as the manifest.
    private static let longestChain = 32

    init(_ composition: Composition) {
        self.composition = composition
        problems = Dictionary(grouping: composition.problems, by: \.manager)
    }

    /// Returns the errors of the manifest as a whole.
    mutating func ofManifest() -> [Explanation.Reason] {
        problems(of: nil, .error).map { reason($0, of: nil, depth: 0) }
    }

    mutating func of(_ manager: String, _ severity: Problem.Severity) -> [Explanation.Reason] {
        told.insert(manager)
        return problems(of: manager, severity).map { reason($0, of: manager, depth: 0) }
    }

    private func problems(of manager: String?, _ severity: Problem.Severity) -> [Problem] {
        (problems[manager] ?? []).filter { $0.severity == severity }
    }

    private mutating func reason(_ problem: Problem, of manager: String?, depth: Int) -> Explanation.Reason {
        let error = problem.error
        var reason = Explanation.Reason(
            manager: manager, code: error.code.rawValue, message: error.message,
            place: ManifestPlace(error.location, problem.position), because: [])
        if error.code != .dependencyUnsatisfied {
            reason.because = error.causes.map(Self.cause)
        } else if depth < Self.longestChain,
            let used = manager.flatMap({ composition.uses(of: $0).first { $0.location == error.location } })?.manager,
            told.insert(used).inserted
        {
            reason.because = problems(of: used, .error).map { self.reason($0, of: used, depth: depth + 1) }
            // The causes below it report the rest of the message.
            reason.message = "`\(used)` cannot be created"
        }
        return reason
    }

    private static func cause(_ error: BackplaneError) -> Explanation.Reason {
        Explanation.Reason(
            code: error.code.rawValue, message: error.message, place: ManifestPlace(error.location, nil),
            because: error.causes.map(cause))
    }
}
