import BackplaneHost

/// The answer to the handshake, which identifies a host.
package struct HostGreeting: Codable, Sendable, Hashable {
    /// The version of the protocol that the host uses.
    package var `protocol`: Int
    /// The version of Backplane.
    package var version: String
    /// The process id.
    package var process: Int32
    /// The absolute path of the active manifest, or `nil` if it was created in Swift.
    package var manifest: String?
    /// The environment of the manifest, or `nil` for none.
    package var environment: String?
    /// The time at which the host started to listen, in seconds since 1970.
    package var startedAt: Double
    /// The names of the requests that the host answers, sorted.
    package var requests: [String]

    private enum CodingKeys: String, CodingKey {
        case `protocol` = "protocol", version = "version", process = "process", manifest = "manifest", environment =
            "environment"
        case startedAt = "startedAt", requests = "requests"
    }
}
