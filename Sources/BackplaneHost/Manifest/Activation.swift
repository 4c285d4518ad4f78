/// The time at which a manager starts.
public enum Activation: String, Sendable, Hashable, CaseIterable {
    /// Activation together with the host.
    case eager
    /// Activation when the manager, or one that uses it, is first looked up.
    case lazy
}
