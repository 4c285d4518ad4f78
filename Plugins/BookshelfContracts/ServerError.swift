public import Backplane

/// A refusal by the books server, with the server's own error code.
public struct ServerError: ComponentError {
    /// The server's error code, such as `loan.taken`, or the status, such as `http.503`, if the response has no code.
    public var code: String
    /// The server's explanation of the error.
    public var message: String
    /// The HTTP status of the response.
    public var status: Int

    /// Creates an error from a server's response.
    ///
    /// - Parameters:
    ///   - code: The server's error code, such as `loan.taken`.
    ///   - status: The HTTP status of the response.
    public init(code: String, message: String, status: Int) {
        (self.code, self.message, self.status) = (code, message, status)
    }

    /// The HTTP status under the key `status`.
    public var details: [String: String] { ["status": "\(status)"] }
}
