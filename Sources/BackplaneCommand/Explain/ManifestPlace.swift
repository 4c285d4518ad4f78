import Backplane
import BackplaneDocuments
import BackplaneHost

/// A location in a manifest, with its line and column if known.
struct ManifestPlace: Codable, Sendable, Hashable {
    /// A JSON pointer, or the path of a file.
    var location: String?
    var line: Int?
    var column: Int?

    init(_ location: String?, _ position: SourcePosition?) {
        (self.location, line, column) = (location, position?.line, position?.column)
    }

    /// Returns the location as `file:line:column`, a format that editors recognise, or else the JSON pointer.
    func text(in manifest: String) -> String? {
        if let line, let column { return "\(manifest):\(line):\(column)" }
        return location
    }
}
