public import Backplane
public import BackplaneDocuments

/// An error or an ignored value in a definition, with its location.
public struct DefinitionProblem: Sendable {
    /// The consequence of a problem.
    public enum Severity: String, Sendable {
        /// A problem that prevents the creation of the web service.
        case error
        /// A value that has no effect, or possibly an unintended one.
        case warning
    }

    /// The consequence of the problem.
    public var severity: Severity
    /// The problem itself, located by a JSON pointer such as `/search/request/path`.
    public var error: BackplaneError
    /// The position of the problem in the text; `nil` in a property list.
    public var position: SourcePosition?

    init(_ severity: Severity, _ error: BackplaneError) { (self.severity, self.error) = (severity, error) }
}
