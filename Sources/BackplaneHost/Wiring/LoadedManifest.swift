import Backplane

/// What loading and resolving came to: fixed from then on.
struct LoadedManifest: Sendable {
    let plan: Plan
    /// What was chosen for every definition.
    let lock: [String: LockedClass]
    /// Of the manifest and of its plugins.
    let problems: [Problem]
    /// The classes behind the plan's entries, by plugin and place.
    private let classes: [[ComponentClass]]
    private let resources: [String?]
    /// The plugins that came as libraries.
    let images: [PluginImage]
    private let document: ManifestDocument
    private let loadErrors: [BackplaneError]
    let loadFolder: LoadFolder?

    init(_ document: ManifestDocument, linked: [LinkedPlugin], _ options: HostOptions) {
        var loader = PluginLoader(document, options)
        loader.add(linked)
        loader.addLibraries()
        let resolution = Resolution(document, catalogue: loader.catalogue)
        self.document = document
        (plan, lock) = (resolution.plan, resolution.lock)
        problems = (document.positioning(loader.problems) + resolution.problems).grouped
        classes = loader.plugins.map(\.description.components)
        resources = loader.plugins.map(\.resources)
        images = loader.plugins.compactMap(\.image)
        loadErrors = loader.problems.map(\.error)
        loadFolder = loader.folder
    }

    func componentClass(of node: Plan.Node) -> ComponentClass {
        classes[node.entry.order][node.entry.index]
    }

    /// The folder with the files of its plugin; `nil`: it came without.
    func resources(of node: Plan.Node) -> String? {
        resources[node.entry.order]
    }

    /// Everything one manager needs, in the order of creation, itself last.
    ///
    /// - Throws: what is wrong with it; where a plugin is missing, that too, as it may be why.
    func nodes(neededBy manager: String) throws(BackplaneError) -> [Plan.Node] {
        do {
            return try plan.nodes(neededBy: manager)
        } catch {
            if document.manifest.managers.isEmpty, let reason = document.problems.first(where: { $0.severity == .error && $0.manager == nil }) {
                throw reason.error
            }
            throw BackplaneError(error.code, error.message, at: error.location, failure: error.failure, causes: error.causes + loadErrors)
        }
    }

    /// - Throws: all errors, if there are any.
    func requireSound() throws(BackplaneError) {
        let errors = problems.filter { $0.severity == .error }.map(\.error)
        if !errors.isEmpty { throw .combining(errors, of: "the manifest", at: document.path) }
    }
}
