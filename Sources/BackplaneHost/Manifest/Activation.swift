/// The time at which a manager starts.
public enum Activation: String, Sendable, Hashable, CaseIterable {
    /// The manager starts with the host.
    case eager
    /// The manager starts when it, or a manager that uses it, is first looked up.
    case lazy
}
