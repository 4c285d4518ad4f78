package import Backplane
import BackplaneDocuments

extension ManifestDocument {
    /// Returns an error in reading or encoding this document's value as a problem, with its position if known.
    package func problem(of error: BackplaneError) -> Problem {
        // A document that cannot be read at all has that error among its problems, with a position that no path leads
        // to.
        problems.first { $0.error.code == error.code && $0.error.message == error.message }
            ?? positioning([Problem(.error, manager: nil, error)])[0]
    }
}

extension ManifestValue {
    /// The error in the `manifestVersion`, which makes the manifest unreadable; `nil` if there is none.
    package var versionError: BackplaneError? {
        let place = (ManifestPath() / "manifestVersion").description
        return ManifestDocument(self, variables: { _ in nil }).problems.first {
            $0.severity == .error && $0.error.location == place
        }?.error
    }
}
