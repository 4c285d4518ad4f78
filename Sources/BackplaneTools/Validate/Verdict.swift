/// The result of checking a requirement.
enum Verdict: Sendable, Hashable {
    /// The requirement is met, with optional remarks.
    case passed([String] = [])
    /// The requirement is not met, with a finding for each violation.
    case failed([String])
    /// The requirement does not apply, with the reason.
    case notApplicable(String)
    /// The requirement could not be checked, with the reason.
    case skipped(String)

    /// Creates a passed verdict if there are no findings, otherwise a failed one.
    init(findings: [String], remarks: [String] = []) {
        self = findings.isEmpty ? .passed(remarks) : .failed(findings + remarks)
    }

    var result: String {
        switch self {
        case .passed: "passed"
        case .failed: "failed"
        case .notApplicable: "not applicable"
        case .skipped: "skipped"
        }
    }

    var details: [String] {
        switch self {
        case .passed(let details), .failed(let details): details
        case .notApplicable(let why), .skipped(let why): [why]
        }
    }

    var isFailure: Bool { if case .failed = self { true } else { false } }
}

typealias Verdicts = [Requirement: Verdict]

extension Verdicts {
    /// Creates the same verdict for several requirements.
    init(_ requirements: [Requirement], _ verdict: Verdict) {
        self.init(uniqueKeysWithValues: requirements.map { ($0, verdict) })
    }

    mutating func take(_ others: Verdicts) { merge(others) { _, new in new } }

    /// Returns the verdicts with the given requirements skipped, unless they have a verdict.
    func skipping(_ requirements: [Requirement], because failure: Requirement) -> Verdicts {
        Verdicts(requirements, .skipped("\(failure.id) must pass first")).merging(self) { $1 }
    }

    /// Returns the first of the given requirements that failed.
    func failure(among requirements: [Requirement]) -> Requirement? {
        requirements.first { self[$0]?.isFailure ?? false }
    }
}
