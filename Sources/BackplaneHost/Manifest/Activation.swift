/// When a manager starts.
public enum Activation: String, Sendable, Hashable, CaseIterable {
    /// With the host.
    case eager
    /// When it, or a manager that uses it, is looked up.
    case lazy
}
