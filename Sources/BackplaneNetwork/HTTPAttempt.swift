public import Backplane

/// The outcome of one attempt of an exchange.
public struct HTTPAttempt: Sendable {
    /// The number of the attempt, starting at 1.
    public var number: Int
    /// The status of the response; `nil` if there was none.
    public var status: Int?
    /// The code of the error that prevented a response or a complete file.
    public var error: BackplaneError.Code?

    package init(number: Int, status: Int? = nil, error: BackplaneError.Code? = nil) {
        (self.number, self.status, self.error) = (number, status, error)
    }
}
