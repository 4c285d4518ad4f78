/// The limits of a manifest in addition to those of any document.
package enum ManifestLimits {
    package static let managers = 10_000
    /// The maximum number of services of all managers.
    package static let services = 10_000
    /// The maximum number of libraries.
    package static let plugins = 10_000
    /// The maximum length of a name or a path; the latter is the system's `PATH_MAX`.
    package static let nameBytes = 4_096
    /// The maximum number of listed errors, and of listed warnings; additional ones are only counted.
    package static let problems = 1_000
    package static let environments = 100
    /// The maximum number of hosts to which traces are sent, and of hosts of one filter.
    package static let hosts = 1_000
    /// The maximum number of managers that filter exchanges, and of those that observe them.
    package static let filters = 100
    /// The maximum number of credentials.
    package static let credentials = 1_000
    /// The maximum number of hosts of one credential.
    package static let credentialHosts = 100
    /// The maximum number of values that a credential passes to its authenticating manager.
    package static let credentialValues = 100
    /// The maximum length of a user's name, a password or a token, which is what servers accept as a header field.
    package static let secretBytes = 16 << 10
}
