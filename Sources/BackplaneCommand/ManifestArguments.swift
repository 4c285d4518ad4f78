import ArgumentParser
import BackplaneTools
import FoundationEssentials

/// The manifest on which a command works, as the first argument or as an option.
struct ManifestArguments: ParsableArguments {
    @OptionGroup var argument: ManifestArgument
    @Option(
        help: ArgumentHelp("The manifest, instead of the first argument.", valueName: "manifest"))
    var manifest: String?

    func validate() throws { _ = try path }

    /// The given manifest; `nil` for the one in the current folder.
    var path: String? {
        get throws {
            guard let manifest else { return argument.path }
            guard let other = argument.path else { return manifest }
            throw ValidationError("--manifest and `\(other)` both name a manifest; use only one of them")
        }
    }
}

/// The argument of commands that work on a manifest, with a more specific option `--manifest`.
struct ManifestArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The manifest: JSON or a property list (default: \(ManifestChoice.text)).", valueName: "manifest"))
    var path: String?
}

/// The choice of the manifest for a command.
enum ManifestChoice {
    /// The file names to look for in the current folder if no manifest is given, in this order.
    static let names = ["backplane.json", "backplane.plist", "NLManagerProvider.plist"]

    /// A description of the default for help texts.
    static let text = "the first of \(names[0]), \(names[1]) and \(names[2]) found in the current folder"

    /// The first of these files that exists in the current folder.
    static var here: String? { names.first(where: isFile) }

    /// Returns the given manifest or the one in the current folder; if there are several, reports which one is used.
    static func taken(_ given: String?) throws -> String {
        if let given { return given }
        let here = names.filter(isFile)
        guard let first = here.first else {
            throw ValidationError(
                "no manifest was specified, and none of \(names[0]), \(names[1]) and \(names[2]) is in "
                    + "\(FileManager.default.currentDirectoryPath); "
                    + "specify its path, or change to its folder")
        }
        if here.count > 1 {
            Output.remark(
                "backplane: using \(first), not \(here.dropFirst().joined(separator: " or ")); to use another, "
                    + "specify its path"
            )
        }
        return first
    }

    /// Splits positional arguments into an optional manifest and the rest.
    ///
    /// The first argument is a manifest if it is an existing file, contains a slash, or ends in `.json` or `.plist`.
    /// Otherwise all arguments are names.
    static func split(_ words: [String], isFile: (String) -> Bool = isFile) -> (
        manifest: String?, rest: ArraySlice<String>
    ) {
        guard let first = words.first,
            first.contains("/") || [".json", ".plist"].contains(where: first.hasSuffix) || isFile(first)
        else {
            return (nil, words[...])
        }
        return (first, words.dropFirst())
    }

    static func isFile(_ path: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder
    }
}
