package import Backplane

/// Where the components of one manifest keep what lasts. Never removed.
package struct DataFolder: Sendable {
    /// One folder for each manifest, absolute. Made with the first component's folder.
    package let path: String

    /// The data folder of the manifest at `manifest`.
    ///
    /// - Parameter parent: `nil` for `$XDG_STATE_HOME/backplane`, by default `~/.local/state/backplane`.
    package init(
        in parent: String? = nil, manifest: String, environment: (String) -> String? = ProcessEnvironment.value
    ) throws(BackplaneError) {
        let parent = if let parent { parent } else { try Self.defaultParent(environment) }
        path = FilePath.join(FilePath.absolute(parent), Self.folderName(manifest: FilePath.absolute(manifest)))
    }

    /// The private folder of the component called `name`, made where there is none.
    ///
    /// Whatever a manifest calls a component, its folder lies directly in this one, and no two names share one.
    package func folder(named name: String) throws(BackplaneError) -> String {
        guard !["", ".", ".."].contains(name) else {
            throw Self.unusable(path, "cannot hold a folder called `\(name)`; give the component another name")
        }
        let folder = FilePath.join(path, Self.escaped(name))
        try Self.make(path)
        try Self.make(folder)
        return folder
    }

    /// The folder of the host's record store, made where there is none. No component's folder is called so: `@` is escaped.
    package func storeFolder() throws(BackplaneError) -> String {
        let folder = FilePath.join(path, "@store")
        try Self.make(path)
        try Self.make(folder)
        return folder
    }

    private static func make(_ level: String) throws(BackplaneError) {
        do throws(PrivateFolder.Problem) {
            try PrivateFolder.make(at: level)
        } catch {
            throw unusable(level, error.text)
        }
    }

    /// XDG Base Directory Specification: state that outlives a restart; a relative path in the variable is invalid and ignored.
    private static func defaultParent(_ environment: (String) -> String?) throws(BackplaneError) -> String {
        if let folder = environment("XDG_STATE_HOME"), folder.hasPrefix("/") { return FilePath.join(folder, "backplane") }
        guard let home = environment("HOME") else {
            throw BackplaneError(
                .dataFolderUnusable, "neither XDG_STATE_HOME nor HOME says where data is kept; choose a folder with --data")
        }
        return FilePath.join(home, ".local/state/backplane")
    }

    private static func unusable(_ path: String, _ reason: String) -> BackplaneError {
        BackplaneError(.dataFolderUnusable, "the data folder \(reason); another can be chosen with --data", at: path)
    }
}
