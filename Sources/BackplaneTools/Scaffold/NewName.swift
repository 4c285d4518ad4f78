import Backplane
import BackplaneHost

/// The name of something new, in upper camel case, from which the names of types, targets and files are derived.
struct NewName: Sendable, Hashable {
    let text: String
    /// The folder that precedes the name in the argument, or `nil` for the current folder.
    let folder: String?

    /// Creates a name from a command-line argument.
    ///
    /// - Parameter inFolder: A Boolean value that indicates whether a path may precede the name.
    /// - Throws: `new.name`, with a valid name as a suggestion if possible.
    init(_ given: String, inFolder: Bool = false) throws(BackplaneError) {
        let path = given.hasSuffix("/") && given.count > 1 ? String(given.dropLast()) : given
        let name = inFolder ? FilePath.name(of: path) : path
        folder = inFolder && path.contains("/") ? FilePath.folder(of: path) : nil
        text = name
        if let reason = Self.refusal(of: name) { throw Self.unusable(name, reason, folder) }
    }

    /// Creates a name that is known to be valid.
    private init(checked text: String) { (self.text, folder) = (text, nil) }

    /// Returns the name with a word appended.
    func followed(by word: String) -> NewName { NewName(checked: text + word) }

    /// The name in kebab case.
    ///
    /// `TideTable` becomes `tide-table`, `HTTPCache` becomes `http-cache`, and `BooksAPIv2` becomes `books-api-v2`.
    var kebab: String {
        text.replacing(/([a-z0-9])([A-Z])/) { "\($0.output.1)-\($0.output.2)" }
            .replacing(/([A-Z])(v[0-9])/) { "\($0.output.1)-\($0.output.2)" }
            .replacing(/([A-Z])([A-Z][a-z])/) { "\($0.output.1)-\($0.output.2)" }
            .lowercased()
    }

    private static func unusable(_ name: String, _ reason: String, _ folder: String?) -> BackplaneError {
        let better = suggestion(for: name).map { "; `\(folder.map { "\($0)/" } ?? "")\($0)` would be valid" } ?? ""
        return BackplaneError(
            .newName,
            "expected the name of a Swift type in upper camel case, such as TideTable, found `\(name)`: \(reason)\(better)"
        )
    }
}
