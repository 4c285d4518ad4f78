import Backplane

/// The options for swaps.
struct SwappingOptions: Sendable {
    /// A function with which tests make fallible actions fail before they begin.
    var fault: (@Sendable (SwapAction) throws(BackplaneError) -> Void)?
    /// A Boolean value that indicates whether imported state is exported again and compared.
    var checksState: Bool
    /// The maximum size of one component's state, in bytes.
    var stateLimit: Int
}
