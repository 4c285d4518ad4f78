/// Adopted by a component's own error types so that their code, message and details arrive at whoever called.
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
    /// What went wrong, for callers to compare.
    var code: String { get }
    /// What went wrong, for people to read, in one line.
    var message: String { get }
    /// More to know, by name. Default: nothing. Reaches logs: no secrets.
    var details: [String: String] { get }
}

extension ComponentError {
    public var details: [String: String] { [:] }
}

extension BackplaneError {
    /// The error that a component's error arrives as: a `BackplaneError` stays what it is.
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
