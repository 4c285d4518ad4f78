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
    /// The parts of the library that a swap does not replace.
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

    /// The image of its library; `nil` if it is linked into this program.
    var image: PluginImage? {
        guard let path, let copy else { return nil }
        return PluginImage(
            id: description.id, version: description.version, library: FilePath.name(of: path), copy: copy)
    }
}

extension LoadedPlugin {
    /// Returns whether the plugin is the one that a reference names, even if it expects a version or digest only now.
    fileprivate func fulfils(_ reference: PluginReference) -> Bool {
        guard let own = self.reference, own != reference else { return self.reference == reference }
        guard let path, let copy, own.library == reference.library, own.resources == reference.resources,
            reference.version?.contains(description.version) ?? true
        else { return false }
        let matches: Void? = try? LibraryCopy.requireDigest(reference.sha256, ofCopy: copy, path)
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
    let options: HostOptions
    private(set) var plugins: [LoadedPlugin] = []
    private(set) var problems: [Problem] = []
    /// The load folder, created with the first library.
    private(set) var folder: LoadFolder?
    /// The plugins of the previous manifest, which are not loaded again.
    private let before: [LoadedPlugin]
    private let generations: GenerationTable
    /// The trials that each library first has to survive, or `nil` for none.
    private let trials: LibraryTrials?
    private let clock: any HostClock

    init(
        _ document: ManifestDocument, _ options: HostOptions, _ generations: GenerationTable,
        after before: [LoadedPlugin], in folder: LoadFolder?, trying trials: LibraryTrials?, by clock: any HostClock
    ) {
        (self.document, self.options, self.generations, self.before, self.folder) = (
            document, options, generations, before, folder
        )
        (self.trials, self.clock) = (trials, clock)
    }

    /// Adds plugins that are linked into this program.
    mutating func add(_ linked: [LinkedPlugin]) {
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
    mutating func addLibraries() {
        if let references = document.manifest.plugins {
            let manifestFolder = document.path.map { FilePath.folder(of: $0) }
            let locator = LibraryLocator(manifestFolder: manifestFolder, pluginPaths: options.pluginPaths)
            add(
                references.enumerated().map { index, reference in
                    Wanted(
                        what: "the library `\(reference.library)`", location: document.place(ofLibrary: index),
                        reference: reference,
                        path: { () throws(BackplaneError) in try locator.locate(reference.library) })
                })
        } else {
            do {
                add(
                    try LibraryLocator.libraries(in: options.pluginPaths).map { path in
                        Wanted(what: "the library", location: path, path: { path })
                    })
            } catch {
                problems.append(Problem(.error, manager: nil, error))
            }
        }
    }

    /// A library to load.
    private struct Wanted {
        /// The description and the location of the library for errors.
        var what: String
        var location: String?
        var reference: PluginReference? = nil
        var path: () throws(BackplaneError) -> String
    }

    /// A library that is known from the previous manifest, or one to load.
    private enum Found {
        case known(LoadedPlugin)
        case new(LibraryLoader.Wanted)
    }

    private mutating func add(_ wanted: [Wanted]) {
        let found = wanted.map { library in Result { () throws(BackplaneError) in try find(library) } }
        let new = found.compactMap { if case .success(.new(let library)) = $0 { library } else { nil } }
        var loaded = load(new)[...]
        for (library, found) in zip(wanted, found) {
            attempt(library.what, at: library.location) { () throws(BackplaneError) in
                switch try found.get() {
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
            // A library that was not found has no other place than the manifest's.
            let refusal =
                error.location == nil
                ? BackplaneError(error.code, error.message, at: location, failure: error.failure, causes: error.causes)
                : BackplaneError(
                    error.code, "\(what) is not loaded: \(error.message)", at: location, causes: [error])
            problems.append(Problem(.error, manager: nil, refusal))
        }
    }

    private func find(_ library: Wanted) throws(BackplaneError) -> Found {
        if let reference = library.reference, var known = before.first(where: { $0.fulfils(reference) }) {
            known.reference = reference
            return .known(known)
        }
        let path = try library.path()
        if library.reference == nil, let known = before.first(where: { $0.reference == nil && $0.path == path }) {
            return .known(known)
        }
        return .new(LibraryLoader.Wanted(path: path, reference: library.reference))
    }

    private mutating func loadFolder() throws(BackplaneError) -> LoadFolder {
        if let folder { return folder }
        let made = try LoadFolder(in: options.loadFolder)
        folder = made
        return made
    }

    /// - Throws: `plugin.duplicate`, located in the library if that is another one, whose classes are missing then.
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
            .pluginDuplicate, "it is `\(id)` \(version), as is \(place), which is loaded; give one another id", at: path
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

/// The properties of a loaded library that attribute its code to its plugin.
package struct PluginImage: Sendable, Hashable {
    package var id: String
    package var version: Version
    /// The name of the file where it was built.
    package var library: String
    /// The path of the copy that was loaded.
    package var copy: String

    package init(id: String, version: Version, library: String, copy: String) {
        (self.id, self.version, self.library, self.copy) = (id, version, library, copy)
    }
}

extension PluginImage: CustomStringConvertible {
    /// The image as text: "org.example.books 1.2.0 (libBooks.so)".
    package var description: String { "\(id) \(version) (\(library))" }
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
