/// Whether a plugin keeps to a requirement.
enum Verdict: Sendable, Hashable {
    /// What there is to know all the same.
    case passed([String] = [])
    /// Each way in which it does not.
    case failed([String])
    /// Why there is nothing to ask.
    case notApplicable(String)
    /// Why it could not be asked.
    case skipped(String)

    /// Passed where nothing was found against it.
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
    /// The same answer to several requirements.
    init(_ requirements: [Requirement], _ verdict: Verdict) {
        self.init(uniqueKeysWithValues: requirements.map { ($0, verdict) })
    }

    mutating func take(_ others: Verdicts) { merge(others) { _, new in new } }

    /// The same, and of these what nothing is known of skipped.
    func skipping(_ requirements: [Requirement], because failure: Requirement) -> Verdicts {
        Verdicts(requirements, .skipped("\(failure.id) comes first")).merging(self) { $1 }
    }

    /// The first of these that it does not keep to.
    func failure(among requirements: [Requirement]) -> Requirement? {
        requirements.first { self[$0]?.isFailure ?? false }
    }
}
