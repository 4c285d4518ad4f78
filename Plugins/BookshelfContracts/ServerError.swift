public import Backplane

/// What the books' server refused, with its own code.
public struct ServerError: ComponentError {
    /// As the server says it, such as `loan.taken`, or `http.503` where it says nothing.
    public var code: String
    public var message: String
    public var status: Int

    public init(code: String, message: String, status: Int) {
        (self.code, self.message, self.status) = (code, message, status)
    }

    public var details: [String: String] { ["status": "\(status)"] }
}
