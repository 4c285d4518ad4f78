package import Backplane
import BackplaneDocuments

extension ManifestDocument {
    /// An error of reading or spelling this document's value, with its position in the text where that is known.
    package func problem(of error: BackplaneError) -> Problem {
        // What cannot be read at all is the document's own problem, and has a position that no path leads to.
        problems.first { $0.error.code == error.code && $0.error.message == error.message }
            ?? positioning([Problem(.error, manager: nil, error)])[0]
    }
}

extension ManifestValue {
    /// What is wrong with the version of a manifest of ours, which nothing can read then; `nil`: nothing is.
    package var versionError: BackplaneError? {
        let place = (ManifestPath() / "manifestVersion").description
        return ManifestDocument(self, variables: { _ in nil }).problems.first { $0.severity == .error && $0.error.location == place }?.error
    }
}
