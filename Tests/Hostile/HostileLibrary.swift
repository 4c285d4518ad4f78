import Glibc

/// A library that does wrong, or is something else altogether.
struct HostileLibrary: Sendable {
    /// How it comes to be.
    enum Making: Sendable {
        /// A family's source, compiled with `-D` and a name of what it does.
        case source(String, variant: String?, flags: [String] = [])
        /// The same with Swift in it.
        case swift(variant: String)
        /// The sound library with other bytes.
        case bytes(@Sendable (inout [UInt8]) -> Void)
        /// No library: a node of this kind and device, which this process may have no right to make.
        case node(mode_t, device: dev_t = 0)
        /// No library: what lies at its path instead.
        case other(@Sendable (_ path: String, _ good: String) -> Void)
    }
    let name: String
    /// What it does, in a sentence without an end.
    let what: String
    let making: Making
    /// It ends the host, which no host in the same process can help.
    var endsHost = false
    /// What a manifest gives for it.
    var sha256: String? = nil

    /// Whether something else lies at its path.
    var isOther: Bool { if case .other = making { true } else { false } }

    /// Returns whether the library at a path is one that waits or computes for ever.
    static func hangs(at path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return ["-never", "-loops", "-spins", "-uncancelled"].contains { name.contains($0) }
    }
}
