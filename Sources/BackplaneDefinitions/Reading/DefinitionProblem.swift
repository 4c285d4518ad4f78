public import Backplane
public import BackplaneDocuments

/// A mistake in a definition, or something in it that is ignored, with its place.
public struct DefinitionProblem: Sendable {
    /// The consequence of a problem.
    public enum Severity: String, Sendable {
        /// A problem because of which the web service cannot be created.
        case error
        /// A value that has no effect, or perhaps not the intended one.
        case warning
    }

    /// The consequence of the problem.
    public var severity: Severity
    /// The problem itself, located by a JSON pointer such as `/search/request/path`.
    public var error: BackplaneError
    /// The position of the problem in the text; `nil` in a binary property list.
    public var position: SourcePosition?

    init(_ severity: Severity, _ error: BackplaneError) { (self.severity, self.error) = (severity, error) }
}
