import BackplaneHost

/// Which host listens.
package struct HostGreeting: Codable, Sendable, Hashable {
    /// The protocol it speaks.
    package var `protocol`: Int
    /// Of Backplane.
    package var version: String
    package var process: Int32
    /// The manifest in force, from the root on; `nil`: it was made in Swift.
    package var manifest: String?
    package var environment: String?
    /// When it began to listen, in seconds since 1970.
    package var startedAt: Double
    /// What it can be asked, sorted.
    package var requests: [String]

    private enum CodingKeys: String, CodingKey {
        case `protocol` = "protocol", version = "version", process = "process", manifest = "manifest", environment = "environment"
        case startedAt = "startedAt", requests = "requests"
    }
}
