package import Backplane
package import BackplaneHost

/// The manifest that a request activates, which the host reads.
package struct AppliedManifestForm: Codable, Sendable, Hashable {
    /// The absolute path of the manifest.
    package var manifest: String
    /// The environment, `nil` for the active manifest's, or an empty string for none.
    package var environment: String?
    /// A Boolean value that indicates whether a manifest without managers is accepted; `nil` means no.
    package var empty: Bool?

    package init(manifest: String, environment: String? = nil, empty: Bool = false) {
        (self.manifest, self.environment, self.empty) = (manifest, environment, empty ? true : nil)
    }

    private enum CodingKeys: String, CodingKey {
        case manifest = "manifest"
        case environment = "environment"
        case empty = "empty"
    }

    /// Reads the manifest.
    ///
    /// - Parameters:
    ///   - host: The host, whose environment is the default.
    ///   - location: The location of the path in the request.
    /// - Throws: `control.malformed` for a relative path, `manifest.unreadable`, or `manifest.empty`.
    package func document(for host: PluginHost, at location: String) throws(BackplaneError) -> ManifestDocument {
        guard manifest.hasPrefix("/") else {
            throw BackplaneError(.controlMalformed, "expected an absolute path, found `\(manifest)`", at: location)
        }
        let environment = environment ?? host.manifestSource.environment
        // Only a regular file, since another client's pipe could keep this request forever.
        let document = ManifestDocument(
            parsing: try ManifestFile.read(manifest, onlyRegular: true), path: manifest,
            environment: environment == "" ? nil : environment)
        let hasErrors = document.problems.contains { $0.severity == .error }
        guard empty == true || hasErrors || !document.manifest.managers.isEmpty else {
            throw BackplaneError(
                .manifestEmpty,
                "the manifest has no managers, so every manager of the host would stop; to allow that, use `backplane apply --empty`, or `\"empty\": true` in the request",
                at: manifest)
        }
        return document
    }
}
