import Backplane

/// The options of the room that swaps.
struct SwappingOptions: Sendable {
    /// Fails actions before they are begun, those that can fail; for tests.
    var fault: (@Sendable (SwapAction) throws(BackplaneError) -> Void)?
    /// Compares what is exported with what is exported again after it was imported.
    var checksState: Bool
    /// Bytes that one component's state may have.
    var stateLimit: Int
}
