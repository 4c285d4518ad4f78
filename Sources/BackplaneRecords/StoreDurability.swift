/// The failures that a write which has returned survives.
public enum StoreDurability: String, Sendable {
    /// The end of the process and of the machine: every write waits until the disk has it.
    case full
    /// The end of the process. A power failure can take back the last writes, but leaves none half done.
    case normal
}
