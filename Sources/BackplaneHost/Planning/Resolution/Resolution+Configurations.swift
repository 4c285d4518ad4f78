internal import Backplane
internal import BackplaneDocuments
internal import FoundationEssentials

extension Resolution.Draft {
    /// Reports the errors and unknown keys that the chosen classes find in their configurations.
    mutating func reviewConfigurations(of name: String, _ review: Resolution.Review) {
        for choice in choices[name] ?? [] {
            guard let entry = choice.entry else { continue }
            self.review(entry, choice.configuration, of: name, at: choice.definition.configurationPath, review)
        }
    }

    private mutating func review(
        _ entry: Catalogue.Entry, _ configuration: Data, of name: String, at path: ManifestPath,
        _ review: Resolution.Review
    ) {
        do throws(BackplaneError) {
            for key in try review(entry, configuration).get() {
                let error = BackplaneError(
                    .manifestUnknownKey, "\(entry) has no configuration key `\(key.lastStep)`",
                    at: document.place(of: key, below: path))
                report(error, of: name, severity: .warning)
            }
        } catch {
            var error = error
            error.location = document.place(of: error.location ?? "", below: path)
            report(error, of: name)
        }
    }
}

extension ManifestDocument {
    /// Returns the location at which a value is written, given a pointer that is relative to another path.
    func place(of pointer: String, below path: ManifestPath) -> String {
        origins(below: path).place(of: pointer) ?? place(of: path) + pointer
    }
}

extension String {
    /// The last key of a JSON pointer (RFC 6901).
    fileprivate var lastStep: String {
        let step = utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last.map { String($0) }
        return (step ?? nil)?.replacing("~1", with: "/").replacing("~0", with: "~") ?? self
    }
}
