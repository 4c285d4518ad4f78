import BackplaneTerminal
import FoundationEssentials

/// Which manifest a command takes.
enum ManifestChoice {
    /// What is looked for in the current folder where none is given, in this order.
    static let names = ["backplane.json", "backplane.plist", "NLManagerProvider.plist"]

    /// The same for help texts.
    static let text = "the first of \(names[0]), \(names[1]) and \(names[2]) that is in the current folder"

    /// The first of them that is there.
    static var here: String? { names.first(where: isFile) }

    /// That there is none to take.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// The manifest that is given, or the one that is here; where several are, says on standard error which it is.
    static func taken(_ given: String?) throws(Missing) -> String {
        if let given { return given }
        let here = names.filter(isFile)
        guard let first = here.first else {
            throw Missing(
                description: "no manifest is given, and none of \(names[0]), \(names[1]) and \(names[2]) is in \(FileManager.default.currentDirectoryPath); "
                    + "give its path, or go where it is")
        }
        if here.count > 1 {
            Output.remark("backplane: \(first) is taken, not \(here.dropFirst().joined(separator: " or ")); give the path of the other to take that")
        }
        return first
    }

    /// Takes the manifest from words that begin with one, or not.
    ///
    /// The first word is a manifest if it names a file that is there, has a slash in it, or ends in `.json` or `.plist`; everything is a name
    /// otherwise.
    static func split(_ words: [String], isFile: (String) -> Bool = isFile) -> (manifest: String?, rest: ArraySlice<String>) {
        guard let first = words.first, first.contains("/") || [".json", ".plist"].contains(where: first.hasSuffix) || isFile(first) else {
            return (nil, words[...])
        }
        return (first, words.dropFirst())
    }

    static func isFile(_ path: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder
    }
}
