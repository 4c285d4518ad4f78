/// Where a manifest was read from, and for which environment.
package struct ManifestSource: Sendable, Hashable {
    /// `nil`: it was made in Swift.
    package var path: String?
    /// `nil`: none.
    package var environment: String?
}
