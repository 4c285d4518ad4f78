/// The rule that determines which libraries are tried in a child process before this process loads them.
///
/// A library that passes every check can still crash the process that loads it: in the system's loader, in a
/// constructor or in its entry function. If it crashes a child instead, it is only refused.
public enum TrialRule: Sendable, Hashable {
    /// No libraries.
    case never
    /// Libraries that a running host loads, in a swap, a preview or for another manifest, when components are at risk.
    case whileRunning
    /// All libraries.
    case always
}
