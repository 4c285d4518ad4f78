import Backplane
import BackplaneBoundary

/// What loading and resolving came to: fixed from then on.
struct LoadedManifest: Sendable {
    let plan: Plan
    /// What was chosen for every definition.
    let lock: [String: LockedClass]
    /// Of the manifest and of its plugins.
    let problems: [Problem]
    let catalogue: Catalogue
    /// In the order of the manifest, those that are linked into this program first.
    let plugins: [LoadedPlugin]
    let document: ManifestDocument
    private let loadProblems: [Problem]
    let loadFolder: LoadFolder?

    /// - Parameters:
    ///   - generations: those that are loaded already.
    ///   - before: the manifest in force until now; what it loaded is not loaded again.
    init(
        _ document: ManifestDocument, linked: [LinkedPlugin], _ options: LoadingOptions, _ generations: GenerationTable,
        after before: LoadedManifest? = nil, in folder: LoadFolder? = nil
    ) {
        var loader = PluginLoader(document, options, generations, after: before?.plugins ?? [], in: folder)
        loader.add(linked)
        loader.addLibraries()
        self.init(document, loader.plugins, loader.problems, loader.folder)
    }

    /// The same manifest where some plugins, by their places, are others.
    func replacing(_ replacements: [Int: LoadedPlugin], in folder: LoadFolder?) -> LoadedManifest {
        var plugins = plugins
        for (place, plugin) in replacements { plugins[place] = plugin }
        return LoadedManifest(document, plugins, loadProblems, folder)
    }

    private init(_ document: ManifestDocument, _ plugins: [LoadedPlugin], _ loadProblems: [Problem], _ loadFolder: LoadFolder?) {
        catalogue = Catalogue(of: plugins)
        let resolution = Resolution(document, catalogue: catalogue) { entry, configuration in
            plugins[entry.order].description.components[entry.index].review(Array(configuration))
        }
        self.document = document
        self.plugins = plugins
        (plan, lock) = (resolution.plan, resolution.lock)
        problems = (document.positioning(loadProblems) + resolution.problems).grouped
        (self.loadProblems, self.loadFolder) = (loadProblems, loadFolder)
    }

    func componentClass(of node: Plan.Node) -> ComponentClass {
        plugins[node.entry.order].description.components[node.entry.index]
    }

    /// The folder with the files of its plugin; `nil`: it came without.
    func resources(of node: Plan.Node) -> String? {
        plugins[node.entry.order].resources
    }

    /// What is done to come from here to another manifest.
    func change(to new: LoadedManifest) -> PlanChange {
        PlanChange(from: plan, to: new.plan) { isSame($0, in: new, $1) }
    }

    /// Are these the same class of the same loaded library, one here and the other in another manifest?
    func isSame(_ old: Catalogue.Entry, in new: LoadedManifest, _ other: Catalogue.Entry) -> Bool {
        let (was, becomes) = (plugins[old.order], new.plugins[other.order])
        return was.path == becomes.path && was.key == becomes.key && old.plugin == other.plugin && old.index == other.index
    }

    /// The node of a manager.
    ///
    /// - Throws: what is wrong with it; where a plugin is missing, that too, as it may be why.
    func node(ofManager manager: String) throws(BackplaneError) -> Plan.Node {
        do {
            return try plan.node(ofManager: manager)
        } catch {
            if document.manifest.managers.isEmpty, let reason = document.problems.first(where: { $0.severity == .error && $0.manager == nil }) {
                throw reason.error
            }
            throw BackplaneError(error.code, error.message, at: error.location, failure: error.failure, causes: error.causes + loadProblems.map(\.error))
        }
    }

    /// The sound managers that start with the host.
    var eagerNames: [String] {
        plan.managers.keys.filter { document.manifest.managers[$0]?.activation != .lazy }.sorted()
    }

    /// - Throws: all errors, if there are any.
    func requireSound() throws(BackplaneError) {
        let errors = problems.filter { $0.severity == .error }.map(\.error)
        if !errors.isEmpty { throw .combining(errors, of: "the manifest", at: document.path) }
    }
}
