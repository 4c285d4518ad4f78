/// The failures that a completed write survives.
public enum StoreDurability: String, Sendable {
    /// Writes survive a crash of the process and of the machine: each waits until it is on disk.
    case full
    /// Writes survive a crash of the process. A power failure can revert the last ones, but leaves none incomplete.
    case normal
}
