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

    /// In lower case with dashes: `TideTable` is `tide-table`, `HTTPCache` is `http-cache`.
    var kebab: String {
        var words = ""
        let characters = Array(text)
        for (index, character) in characters.enumerated() {
            let isBeforeWord = characters.indices.contains(index + 1) && characters[index + 1].isLowercase
            if index > 0, character.isUppercase, !characters[index - 1].isUppercase || isBeforeWord { words += "-" }
            words += character.lowercased()
        }
        return words
    }

    private static func unusable(_ name: String, _ reason: String, _ folder: String?) -> BackplaneError {
        let better = suggestion(for: name).map { "; `\(folder.map { "\($0)/" } ?? "")\($0)` would do" } ?? ""
        return BackplaneError(.newName, "expected the name of a Swift type in upper camel case, such as TideTable, found `\(name)`: \(reason)\(better)")
    }
}
