/// The failures that a completed write survives.
public enum StoreDurability: String, Sendable {
    /// The end of the process and of the machine: every write waits until it is on disk.
    case full
    /// The end of the process. A power failure can take back the last writes, but leaves none incomplete.
    case normal
}
