import Backplane
import BackplaneDocuments

/// A library requested as a replacement, and the plugin that it is expected to replace.
struct WantedLibrary: Sendable {
    let path: String
    /// The position of the plugin to replace, or `nil` if only the library's entry function can identify it.
    let place: Int?

    /// Finds a library.
    ///
    /// - Parameter library: A path, or a library's name in the manifest, or a plugin's id.
    init(_ library: String, among loaded: LoadedManifest, _ options: HostOptions) throws(BackplaneError) {
        let plugins = loaded.plugins
        if library.contains("/") || [".so", ".json", ".plist"].contains(where: library.hasSuffix) {
            let path = FilePath.absolute(library)
            self.path = path
            let byPath = plugins.firstIndex { $0.path.map(FilePath.absolute) == path }
            let byName = plugins.indices.filter { plugins[$0].path.map(FilePath.name) == FilePath.name(of: path) }
            place = byPath ?? (byName.count == 1 ? byName[0] : nil)
        } else {
            let place = try loaded.place(ofPlugin: library)
            self.place = place
            if let reference = plugins[place].reference {
                let folder = loaded.document.path.map { FilePath.folder(of: $0) }
                path = try LibraryLocator(manifestFolder: folder, pluginPaths: options.pluginPaths).locate(
                    reference.library)
            } else if let known = plugins[place].path {
                path = known
            } else {
                throw BackplaneError(
                    .swapRefused,
                    "\(library) is linked into this program; pass the path of the library that replaces it")
            }
        }
    }

    /// Returns the positions of the active definitions in a requested file; `nil` if a library is requested.
    ///
    /// - Throws: `plugin.unknown` for the file of a definition that is not active, because it has errors.
    func definitions(among loaded: LoadedManifest) throws(BackplaneError) -> [Int]? {
        if let place {
            guard loaded.plugins[place].definition != nil else { return nil }
            guard loaded.plugins[place].path == path else {
                throw BackplaneError(
                    .swapRefused,
                    "a definition is read from the file that the manifest names; change that file, or the manifest",
                    at: path)
            }
            return loaded.plugins.indices.filter { loaded.plugins[$0].path == path }
        }
        guard loaded.document.definitionPlaces.contains(where: { $0.definition == path }) else { return nil }
        throw BackplaneError(
            .pluginUnknown, "the definition is not active, so there is nothing to swap; apply the manifest", at: path)
    }

    /// Refuses a library without a known position if the manifest fixes the contents of any library by its SHA-256.
    ///
    /// - Throws: `swap.refused`, because only running the library would reveal whether it replaces a fixed one.
    func requirePlace(among loaded: LoadedManifest) throws(BackplaneError) {
        guard place == nil else { return }
        let fixed = loaded.plugins.filter { $0.reference?.sha256 != nil }.map(\.description.id).sorted()
        guard !fixed.isEmpty else { return }
        throw BackplaneError(
            .swapRefused,
            "the manifest has a SHA-256 for \(fixed.joined(separator: ", ")), and the name \(FilePath.name(of: path)) does not show which library it replaces; "
                + "give it the file name of the library that it replaces, so that it can be checked before it is loaded",
            at: path)
    }

    /// Returns the position of the library, now that its entry function has identified the plugin.
    func place(of plugin: LoadedPlugin, among loaded: LoadedManifest) throws(BackplaneError) -> Int {
        let id = plugin.description.id, plugins = loaded.plugins
        if let place, plugins[place].description.id == id { return place }
        let same = plugins.indices.filter { plugins[$0].description.id == id }
        let alike =
            same.count > 1
            ? same.filter { plugins[$0].description.version.major == plugin.description.version.major } : same
        guard alike.count == 1 else { throw Self.homeless(plugin, same.isEmpty, loaded, at: path) }
        guard plugins[alike[0]].reference?.sha256 == nil else {
            throw BackplaneError(
                .swapRefused,
                "the manifest has a SHA-256 for \(id); give this file the name of the library that it replaces, so "
                    + "that it can be checked before it is loaded",
                at: path)
        }
        return alike[0]
    }

    private static func homeless(_ plugin: LoadedPlugin, _ isUnknown: Bool, _ loaded: LoadedManifest, at path: String)
        -> BackplaneError
    {
        let id = plugin.description.id
        guard isUnknown else {
            return BackplaneError(
                .swapRefused, "several versions of \(id) are active; swap one of them by the path of its library",
                at: path)
        }
        let there = loaded.plugins.map(\.description.id).sorted().joined(separator: ", ")
        return BackplaneError(
            .pluginUnknown,
            "\(id) is not active, so there is nothing to swap; active plugins: \(there.isEmpty ? "none" : there); add it to the manifest and apply that",
            at: path)
    }
}

extension LoadedManifest {
    /// Returns the position of a plugin, given its id or its library's name in the manifest.
    func place(ofPlugin name: String) throws(BackplaneError) -> Int {
        let found = plugins.indices.filter {
            plugins[$0].description.id == name || plugins[$0].reference?.library == name
        }
        if found.count == 1 { return found[0] }
        let names = plugins.map { $0.reference?.library ?? $0.description.id }
        guard found.isEmpty else {
            throw BackplaneError(
                .swapRefused,
                "several active plugins are called `\(name)`; choose one by its library: \(names.joined(separator: ", "))"
            )
        }
        let suggestions = NameSuggestions(for: name, among: names + plugins.map(\.description.id))
        let hint =
            suggestions.question
            ?? (names.isEmpty ? "active plugins: none" : "active plugins: \(names.sorted().joined(separator: ", "))")
        throw BackplaneError(.pluginUnknown, "no active plugin is called `\(name)`; \(hint)")
    }
}
