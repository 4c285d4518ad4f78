/// The file and the environment from which a manifest was read.
package struct ManifestSource: Sendable, Hashable {
    /// The path of the file; `nil` if the manifest was not read from a file.
    package var path: String?
    /// The name of the environment; `nil` if there is none.
    package var environment: String?
}
