import Backplane
import BackplaneHost

/// The name of something to be made: that of a Swift type, in upper camel case, and of the types, targets and files that are called after it.
struct NewName: Sendable, Hashable {
    let text: String
    /// Where to make it, as it was given before the last slash; `nil`: in the current folder.
    let folder: String?

    /// - Parameter inFolder: whether a path may stand before the name.
    /// - Throws: `new.name`, with the name that would do where one can be made of it.
    init(_ given: String, inFolder: Bool = false) throws(BackplaneError) {
        let path = given.hasSuffix("/") && given.count > 1 ? String(given.dropLast()) : given
        let name = inFolder ? FilePath.name(of: path) : path
        folder = inFolder && path.contains("/") ? FilePath.folder(of: path) : nil
        text = name
        if let reason = Self.refusal(of: name) { throw Self.unusable(name, reason, folder) }
    }

    /// One that was made here.
    private init(checked text: String) { (self.text, folder) = (text, nil) }

    /// The same with a word after it.
    func followed(by word: String) -> NewName { NewName(checked: text + word) }

    /// In lower case with dashes: `TideTable` is `tide-table`, `HTTPCache` is `http-cache`, `BooksAPIv2` is `books-api-v2`.
    var kebab: String {
        text.replacing(/([a-z0-9])([A-Z])/) { "\($0.output.1)-\($0.output.2)" }
            .replacing(/([A-Z])(v[0-9])/) { "\($0.output.1)-\($0.output.2)" }
            .replacing(/([A-Z])([A-Z][a-z])/) { "\($0.output.1)-\($0.output.2)" }
            .lowercased()
    }

    private static func unusable(_ name: String, _ reason: String, _ folder: String?) -> BackplaneError {
        let better = suggestion(for: name).map { "; `\(folder.map { "\($0)/" } ?? "")\($0)` would do" } ?? ""
        return BackplaneError(.newName, "expected the name of a Swift type in upper camel case, such as TideTable, found `\(name)`: \(reason)\(better)")
    }
}
