/// An error of a component whose code, message and details reach its callers.
///
/// Any other error arrives as ``BackplaneError/Code/componentFailed`` with its description as the message.
///
/// ```swift
/// struct NotOnShelf: ComponentError {
///     var title: String
///     var code: String { "library.not-on-shelf" }
///     var message: String { "`\(title)` is lent out" }
/// }
/// ```
public protocol ComponentError: Error {
    /// The kind of the error, for callers to compare.
    var code: String { get }
    /// A description of the problem, in one line.
    var message: String { get }
    /// Further facts, keyed by name. Default: none. They are written to logs, so they must not contain secrets, except
    /// for those whose names begin with a dot.
    var details: [String: String] { get }
}

extension ComponentError {
    /// The default: no details.
    public var details: [String: String] { [:] }
}

extension BackplaneError {
    /// Creates the error that callers receive for an error thrown by a component.
    ///
    /// A `BackplaneError` is kept unchanged, and a `CancellationError` becomes `call.cancelled`.
    public init(thrown error: any Error) {
        switch error {
        case let error as BackplaneError: self = error
        case let error as any ComponentError:
            self.init(.componentFailed, error.message, failure: Failure(code: error.code, details: error.details))
        case is CancellationError: self.init(.callCancelled, "the call was cancelled")
        default: self.init(.componentFailed, String(describing: error))
        }
    }
}
