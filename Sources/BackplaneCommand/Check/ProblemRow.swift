import Backplane
import BackplaneDocuments
import BackplaneHost

/// A problem in the format of `check --json`.
struct ProblemRow: Encodable {
    var severity: String
    var manager: String?
    var location: String?
    var line: Int?
    var column: Int?
    var code: String
    var message: String
    var causes: [BackplaneError]
    /// A Boolean value that indicates whether the problem follows from another one.
    var isConsequence: Bool

    init(_ problem: Problem) {
        (severity, manager, location) = (problem.severity.rawValue, problem.manager, problem.error.location)
        (line, column) = (problem.position?.line, problem.position?.column)
        (code, message, causes) = (problem.error.code.rawValue, problem.error.message, problem.error.causes)
        isConsequence = problem.isConsequence
    }
}
