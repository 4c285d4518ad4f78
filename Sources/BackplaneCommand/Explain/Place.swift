import Backplane
import BackplaneDocuments
import BackplaneHost

/// A place in a manifest.
struct Place: Codable, Sendable, Hashable {
    /// A JSON pointer, or a file.
    var location: String?
    var line: Int?
    var column: Int?

    init(_ location: String?, _ position: SourcePosition?) {
        (self.location, line, column) = (location, position?.line, position?.column)
    }

    /// As compilers print it, so that editors can go there: `file:line:column`; or the pointer.
    func text(in manifest: String) -> String? {
        if let line, let column { return "\(manifest):\(line):\(column)" }
        return location
    }
}
