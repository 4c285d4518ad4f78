package import Backplane
import BackplaneDefinitions
import CBackplane
import FoundationEssentials

/// A plugin in the process, with its own description.
struct LoadedPlugin: Sendable {
    /// The manifest's reference to it; `nil` if there is none.
    var reference: PluginReference? = nil
    /// The path at which it was built; `nil` if it is linked into this program.
    let path: String?
    /// The path of the copy that was loaded; `nil` if it is linked into this program.
    var copy: String? = nil
    /// The ranges of the copy that running code does not need.
    var unmapped: [Range<Int>] = []
    var lasting: [String] = []
    /// The path of the copy of its files; `nil` if it has none.
    let resources: String?
    let description: PluginDescription

    /// The identity among all generations of all plugins.
    var key: String {
        if let definition, let path { return "\(path) (\(definition.edition))" }
        return copy ?? "\(description.id) \(description.version), linked (\(linkedGeneration))"
    }
    /// The number that distinguishes linked plugins that replaced one another.
    var linkedGeneration = 0
    /// The definition file that it consists of; `nil` for a plugin with code of its own.
    var definition: LoadedDefinition? = nil

    /// The plugin as text, such as "org.example.books 1.2.0 (libBooks.so)".
    var name: String {
        let name = "\(description.id) \(description.version)"
        guard let path, copy != nil else { return "\(name), \(path ?? "linked into this program")" }
        return "\(name) (\(FilePath.name(of: path)))"
    }
}

extension LoadedPlugin {
    /// Returns whether a reference names this plugin, even if the reference newly expects a version or digest.
    fileprivate func fulfils(_ reference: PluginReference) -> Bool {
        guard let own = self.reference, own != reference else { return self.reference == reference }
        guard let path, let copy, own.library == reference.library, own.resources == reference.resources,
            reference.version?.contains(description.version) ?? true
        else { return false }
        let matches: Void? = try? LibraryCopy.requireDigest(reference.sha256, of: copy, path)
        return matches != nil
    }

    /// Creates a plugin from the description of a loaded library.
    init(_ file: LibraryFile, _ library: DynamicLibrary) throws(BackplaneError) {
        let reference = file.reference, description = try file.describe(library)
        if let range = reference?.version, !range.contains(description.version) {
            throw BackplaneError(
                .versionOutOfRange, "expected plugin version \(range), found \(description.id) \(description.version)",
                at: file.path)
        }
        self.init(
            reference: reference, path: file.path, copy: file.copy, unmapped: file.unmapped,
            lasting: file.lasting, resources: file.resources, description: description)
    }
}

/// A loader that loads a manifest's plugins into the process in order; a failing plugin does not affect the others.
struct PluginLoader {
    let document: ManifestDocument
    private let options: HostOptions
    /// The plugins linked into this program, then those of the manifest in its order.
    private(set) var plugins: [LoadedPlugin] = []
    private(set) var problems: [Problem] = []
    private(set) var folder: LoadFolder?
    /// The plugins of the previous manifest, which are not loaded again.
    let before: [LoadedPlugin]
    private let generations: GenerationTable
    /// The trials that each library first has to survive, or `nil` for none.
    private let trials: LibraryTrials?
    private let clock: any HostClock

    /// Loads the plugins that are linked into this program, and the libraries of a manifest.
    init(
        _ document: ManifestDocument, _ linked: [LinkedPlugin], _ options: HostOptions, _ generations: GenerationTable,
        after before: [LoadedPlugin], in folder: LoadFolder?, trying trials: LibraryTrials?, by clock: any HostClock
    ) {
        (self.document, self.options, self.generations) = (document, options, generations)
        (self.before, self.folder, self.trials, self.clock) = (before, folder, trials, clock)
        add(linked)
        addLibraries()
    }

    private mutating func add(_ linked: [LinkedPlugin]) {
        let known = before.filter { $0.path == nil }
        guard known.isEmpty else { return plugins += known }
        for plugin in linked {
            attempt("the linked plugin `\(plugin.name)`", at: nil) { () throws(BackplaneError) in
                LoadedPlugin(
                    path: nil, resources: try plugin.resources(), description: try plugin.describe(HostInterfaces.get))
            }
        }
    }

    /// Loads the libraries that the manifest names or, if it has no `plugins`, all in the plugin folders.
    private mutating func addLibraries() {
        guard let references = document.manifest.plugins else {
            do {
                add(
                    try LibraryLocator.libraries(in: options.pluginPaths).map { path in
                        Candidate(what: "the library", location: path, found: .success(find(path)))
                    })
            } catch {
                problems.append(Problem(.error, manager: nil, error))
            }
            return
        }
        let manifestFolder = document.path.map { FilePath.folder(of: $0) }
        let locator = LibraryLocator(manifestFolder: manifestFolder, pluginPaths: options.pluginPaths)
        add(
            references.enumerated().map { index, reference in
                Candidate(
                    what: "the library `\(reference.library)`", location: document.place(ofLibrary: index),
                    found: Result { () throws(BackplaneError) in try find(reference, by: locator) })
            })
    }

    /// A library of the manifest, with its description and location for errors.
    private struct Candidate {
        var what: String
        var location: String?
        var found: Result<Found, BackplaneError>
    }

    /// A library that is known from the previous manifest, or one to load.
    private enum Found {
        case known(LoadedPlugin)
        case new(LibraryLoader.Wanted)
    }

    private func find(_ reference: PluginReference, by locator: LibraryLocator) throws(BackplaneError) -> Found {
        guard var known = before.first(where: { $0.fulfils(reference) }) else {
            return .new(LibraryLoader.Wanted(path: try locator.locate(reference.library), reference: reference))
        }
        known.reference = reference
        return .known(known)
    }

    private func find(_ path: String) -> Found {
        before.first { $0.reference == nil && $0.path == path }.map(Found.known)
            ?? .new(LibraryLoader.Wanted(path: path))
    }

    private mutating func add(_ candidates: [Candidate]) {
        let new = candidates.compactMap { if case .success(.new(let library)) = $0.found { library } else { nil } }
        var loaded = load(new)[...]
        for candidate in candidates {
            attempt(candidate.what, at: candidate.location) { () throws(BackplaneError) in
                switch try candidate.found.get() {
                case .known(let plugin): plugin
                case .new: try loaded.removeFirst().get()
                }
            }
        }
    }

    private mutating func load(_ libraries: [LibraryLoader.Wanted]) -> [Result<LoadedPlugin, BackplaneError>] {
        guard !libraries.isEmpty else { return [] }
        do throws(BackplaneError) {
            let folder = try loadFolder()
            return LibraryLoader(
                folder: folder, generations: generations, trials: trials, limit: options.loadLimit, clock: clock
            ).load(libraries)
        } catch {
            return libraries.map { _ in .failure(error) }
        }
    }

    private mutating func attempt(
        _ what: String, at location: String?, _ load: () throws(BackplaneError) -> LoadedPlugin
    ) {
        do throws(BackplaneError) {
            let plugin = try load()
            try requireNew(plugin)
            plugins.append(plugin)
        } catch {
            // A library that was not found has no location except the manifest's.
            var refusal = error
            if error.location != nil {
                refusal = BackplaneError(error.code, "\(what) is not loaded: \(error.message)", causes: [error])
            }
            refusal.location = location
            problems.append(Problem(.error, manager: nil, refusal))
        }
    }

    private mutating func loadFolder() throws(BackplaneError) -> LoadFolder {
        if let folder { return folder }
        let made = try LoadFolder(in: options.loadFolder)
        folder = made
        return made
    }

    /// - Throws: `plugin.duplicate`; for another library, whose classes are then missing, with the library's location.
    private func requireNew(_ plugin: LoadedPlugin) throws(BackplaneError) {
        let (id, version) = (plugin.description.id, plugin.description.version)
        guard let other = plugins.first(where: { $0.description.id == id && $0.description.version == version }) else {
            return
        }
        let place = other.path ?? "this program"
        guard let path = plugin.path, path != other.path else {
            throw BackplaneError(
                .pluginDuplicate, "\(id) \(version) is already loaded, from \(place); name it only once")
        }
        throw BackplaneError(
            .pluginDuplicate, "it is `\(id)` \(version), already loaded from \(place); give one of them another id",
            at: path
        )
    }
}

extension Catalogue {
    /// Creates the catalogue of the classes that plugins registered.
    ///
    /// - Parameter builtIns: The choices for definitions that the built-in class serves, by their paths.
    init(of plugins: [LoadedPlugin], builtIns: [String: BuiltInChoice] = [:]) {
        self.init(
            plugins.enumerated().flatMap { order, plugin in
                plugin.description.components.enumerated().map { index, component in
                    Catalogue.Entry(
                        plugin: plugin.description.id, pluginVersion: plugin.description.version, order: order,
                        index: index,
                        component: component.description)
                }
            }, builtIns: builtIns)
    }
}

/// A plugin that is linked into this program.
package struct LinkedPlugin: Sendable {
    let name: String
    /// A function that returns the plugin's description and provides it with the host's services.
    let describe: @Sendable (bp_get_interface) throws(BackplaneError) -> PluginDescription
    /// A function that returns the folder with the plugin's files; `nil` if it has none.
    let resources: @Sendable () throws(BackplaneError) -> String?

    package init(_ plugin: any Plugin.Type) {
        name = plugin.id
        describe = { getInterface throws(BackplaneError) in
            try PluginDescription(asking: plugin, getInterface: getInterface)
        }
        resources = { () throws(BackplaneError) in try ResourceFolder.ofModule(declaring: plugin) }
    }

    /// Creates a plugin from only its entry function, as for a library.
    package init(named name: String, entry: @escaping @Sendable PluginDescription.Entry) {
        self.name = name
        describe = { getInterface throws(BackplaneError) in
            try PluginDescription(asking: entry, getInterface: getInterface)
        }
        resources = { nil }
    }

    /// Creates a plugin from the function that registers its components.
    package init(id: String, version: Version, register: @escaping @Sendable (inout Registrar) -> Void) {
        name = id
        describe = { getInterface throws(BackplaneError) in
            try PluginDescription(id: id, version: version, getInterface: getInterface, register: register)
        }
        resources = { nil }
    }
}
