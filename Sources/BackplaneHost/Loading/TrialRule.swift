/// The rule for which libraries are opened in a child process before this process loads them.
///
/// A library that passes every check can still end the process that loads it: in the system's loader, or in a
/// constructor. A child that dies of it costs nothing but its refusal.
public enum TrialRule: Sendable, Hashable {
    /// None.
    case never
    /// Libraries that a running host loads, in a swap, a preview or for another manifest: components are at stake.
    case whileRunning
    /// All.
    case always
}
