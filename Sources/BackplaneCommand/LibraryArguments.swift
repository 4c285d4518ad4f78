import ArgumentParser
import Backplane
import BackplaneHost

/// The arguments of commands that run a library's code in child processes, and of these processes.
struct LibraryArguments: ParsableArguments {
    @Argument(help: "The library: its path, or its name in a manifest.")
    var library: String

    @Option(
        help: ArgumentHelp(
            "The manifest in which to look up the library's name (default: look beside this command and in the current folder).",
            valueName: "manifest"))
    var manifest: String?

    @Option(
        help: ArgumentHelp(
            "The folder to which the library is copied before it is loaded (default: $XDG_CACHE_HOME, or the temporary folder).",
            valueName: "folder"))
    var loadFolder: String?

    @Option(help: ArgumentHelp("Seconds that the library may take for each step.", valueName: "seconds"))
    var timeout = 10.0

    /// The time limit for each step.
    var limit: Duration { .seconds(timeout) }

    func validate() throws {
        guard (0.001...3_600).contains(timeout) else {
            throw ValidationError("--timeout: expected seconds, up to an hour, found \(timeout)")
        }
    }

    /// The path of the library.
    ///
    /// - Throws: `plugin.not-found`; `manifest.unreadable` if there is no such manifest.
    var path: String {
        get throws(BackplaneError) {
            let advice = "build it, or specify its path"
            guard let manifest else {
                if library.contains("/") || (try? FileStatus(at: library)) != nil { return library }
                return try LibraryLocator(manifestFolder: ".", pluginPaths: [], advice: advice).locate(library)
            }
            if library.contains("/") { return library }
            _ = try ManifestFile.read(manifest)
            let plugins = ManifestDocument(contentsOf: manifest).manifest.plugins ?? []
            let named = plugins.first { [library, "lib\(library).so"].contains(FilePath.name(of: $0.library)) }
            return try LibraryLocator(manifestFolder: FilePath.folder(of: manifest), pluginPaths: [], advice: advice)
                .locate(named?.library ?? library)
        }
    }
}
