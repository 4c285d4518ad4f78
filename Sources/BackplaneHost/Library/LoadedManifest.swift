import Backplane

/// The immutable result of loading a manifest's plugins and resolving the manifest.
struct LoadedManifest: Sendable {
    let plan: Plan
    let lock: [String: LockedClass]
    let problems: [Problem]
    let catalogue: Catalogue
    /// The plugins linked into this program, then those of the manifest in its order.
    let plugins: [LoadedPlugin]
    let document: ManifestDocument
    private let loadProblems: [Problem]
    private let pinProblems: [Problem]
    private let serialize: DefinitionLoader.Serialize
    private(set) var loadFolder: LoadFolder?
    /// The identity of the parsed manifest, which is the same for all values that differ only in their plugins.
    let reading: Reading

    final class Reading: Sendable {}

    /// Creates the result of resolving a manifest with the plugins that were loaded for it.
    ///
    /// - Parameter serialize: The function that calls a serializer with a response of a definition.
    init(_ loader: PluginLoader, serialize: @escaping DefinitionLoader.Serialize, pinProblems: [Problem]) {
        self.init(
            loader.document, loader.plugins, definitions: loader.before.filter { $0.definition != nil },
            readsFiles: true, serialize, loader.problems, pinProblems, loader.folder, Reading())
    }

    /// Returns the same manifest with some plugins, given by index, replaced.
    ///
    /// Definition files are not read again, but compared with the contracts of their consumers.
    func replacing(_ replacements: [Int: LoadedPlugin], in folder: LoadFolder?) -> LoadedManifest {
        guard !replacements.isEmpty else {
            var same = self
            same.loadFolder = folder
            return same
        }
        var plugins = plugins
        for (place, plugin) in replacements { plugins[place] = plugin }
        return LoadedManifest(
            document, plugins.filter { $0.definition == nil }, definitions: plugins.filter { $0.definition != nil },
            readsFiles: false, serialize, loadProblems, pinProblems, folder, reading)
    }

    private init(
        _ document: ManifestDocument, _ libraries: [LoadedPlugin], definitions: [LoadedPlugin], readsFiles: Bool,
        _ serialize: @escaping DefinitionLoader.Serialize, _ loadProblems: [Problem], _ pinProblems: [Problem],
        _ loadFolder: LoadFolder?, _ reading: Reading
    ) {
        (self.reading, self.serialize, self.pinProblems) = (reading, serialize, pinProblems)
        let ofLibraries = Catalogue(of: libraries)
        let loader = DefinitionLoader(
            document, for: libraries, ofLibraries, known: definitions, readsFiles: readsFiles, serialize)
        let plugins = libraries + loader.plugins
        let catalogue =
            loader.choices.isEmpty ? ofLibraries : Catalogue(of: plugins, builtIns: loader.choices)
        self.catalogue = catalogue
        // A library that is named twice is already loaded.
        let loadErrors = loadProblems.map(\.error).filter { $0.code != .pluginDuplicate || !$0.causes.isEmpty }
        func componentClass(_ entry: Catalogue.Entry) -> ComponentClass {
            plugins[entry.order].description.components[entry.index]
        }
        var fits = PairCache<ContractFit>()
        let resolution = Resolution(
            document, catalogue: catalogue, loadErrors: loadErrors,
            review: { entry, configuration in componentClass(entry).review(Array(configuration)) }
        ) { user, label, provider in
            // Components that are compiled together have one contract.
            guard user.order != provider.order, let side = componentClass(user).consumerSide(ofWire: label) else {
                return .unknown
            }
            return fits.fit(side, componentClass(provider).providerSide)
        }
        self.document = document
        self.plugins = plugins
        (plan, lock) = (resolution.plan, resolution.lock)
        problems = (document.positioning(loadProblems + pinProblems) + resolution.problems).grouped
        (self.loadProblems, self.loadFolder) = (loadProblems, loadFolder)
    }

    /// Returns the plugins that another manifest does not have, or has in another generation.
    func plugins(besides other: LoadedManifest) -> [LoadedPlugin] {
        let keys = Set(other.plugins.map(\.key))
        return plugins.filter { !keys.contains($0.key) }
    }

    func componentClass(of node: Plan.Node) -> ComponentClass {
        plugins[node.entry.order].description.components[node.entry.index]
    }

    /// Returns whether an entry here and one of another manifest are the same class of the same loaded library.
    func isSame(_ old: Catalogue.Entry, in new: LoadedManifest, _ other: Catalogue.Entry) -> Bool {
        let (was, becomes) = (plugins[old.order], new.plugins[other.order])
        return was.path == becomes.path && was.key == becomes.key && old.plugin == other.plugin
            && old.index == other.index
    }

    /// Returns the node of a manager.
    ///
    /// - Throws: The manager's error, with the problems of loading among its causes, because a missing plugin may be
    ///   the reason; or the document's own error if it has no managers.
    func node(ofManager manager: String) throws(BackplaneError) -> Plan.Node {
        do {
            return try plan.node(ofManager: manager)
        } catch {
            if document.manifest.managers.isEmpty,
                let reason = document.problems.first(where: { $0.severity == .error && $0.manager == nil })
            {
                throw reason.error
            }
            var error = error
            error.causes += loadProblems.map(\.error)
            throw error
        }
    }

    func providerSide(ofManager name: String) throws(BackplaneError) -> LaneSide {
        componentClass(of: try node(ofManager: name)).providerSide
    }

    /// The names of managers without errors that start with the host.
    var eagerNames: [String] {
        plan.managers.keys.filter { document.manifest.managers[$0]?.activation != .lazy }.sorted()
    }

    /// Checks that the manifest and its plugins have no errors.
    ///
    /// - Throws: All errors as one, with the number of those that probably follow from others.
    func requireSound() throws(BackplaneError) {
        let problems = problems, errors = problems.errors
        guard !errors.isEmpty else { return }
        var error = BackplaneError.combining(errors, of: "the manifest", at: document.path)
        if let summary = problems.summaryOfConsequences { error.causes.append(BackplaneError(error.code, summary)) }
        throw error
    }
}

extension LoadedManifest {
    func composition(_ rule: LaneRule) -> Composition {
        let plugins = plugins.map {
            Composition.PluginOrigin(id: $0.description.id, version: $0.description.version, library: $0.path)
        }
        return Composition(
            document: document, catalogue: catalogue, plan: plan, problems: problems, plugins: plugins,
            wires: wires(rule))
    }

    /// The warnings about Swift state that can cross only as JSON, even to a rebuild of the same code.
    var encodedStates: [Problem] {
        let warnings = plan.nodes.compactMap { node -> Problem? in
            // Other code has states in a format of its own, and no Swift values.
            guard let side = componentClass(of: node).stateSide, side.origin.revision != 0,
                case .encoded(let reason) = Lane(from: side, to: side, as: side.state.version, .fastest)
            else { return nil }
            let text = "the state of \(node.name) can only be carried over as JSON, for which calls wait: \(reason)"
            return Problem(
                .warning, manager: node.managers.first, BackplaneError(.stateIncompatible, text, at: node.location))
        }
        return document.positioning(warnings)
    }

    /// Returns the wires of the plan, whose components need not be running.
    private func wires(_ rule: LaneRule) -> [Composition.PlannedWire] {
        var comparisons = PairCache<String?>()
        return plan.nodes.flatMap { user in
            user.wires.compactMap { wire -> Composition.PlannedWire? in
                let provider = plan.nodes[wire.provider]
                guard let consumer = componentClass(of: user).consumerSide(ofWire: wire.label) else { return nil }
                let lane = Lane(from: consumer, to: componentClass(of: provider).providerSide, rule) {
                    comparisons.difference($0, $1)
                }
                return Composition.PlannedWire(
                    user: user.id, provider: provider.id,
                    status: WireStatus(
                        user: user.name, label: wire.label, provider: provider.name, contract: consumer.contract.name,
                        version: consumer.contract.version, lane: lane))
            }
        }
    }
}

/// The methods that a wire's user declares and its provider's active code has, but the new code lacks.
struct RemovedMethods: Hashable {
    /// The user's name, or `nil` for the host program.
    let user: String?
    let label: String
    let provider: String
    let contract: ContractDescription
    let names: [String]
    let location: String

    /// Compares the code of a provider with its successor, or returns `nil` if the user loses nothing.
    init?(
        _ user: String?, _ label: String, needing contract: ContractDescription, of provider: Plan.Node,
        from old: ContractDescription?, to new: ContractDescription?
    ) {
        // Another contract is a mismatch, which is reported as such.
        guard let old, let new, old.name == contract.name, new.name == contract.name else { return nil }
        let never = Set(old.missing(from: contract))
        names = new.missing(from: contract).filter { !never.contains($0) }
        guard !names.isEmpty else { return nil }
        (self.user, self.label, self.contract) = (user, label, contract)
        (self.provider, location) = (provider.name, provider.location)
    }

    var error: BackplaneError {
        let methods = names.map { "`\($0)`" }.joined(separator: ", ")
        let caller = user.map { "\($0), through its wire `\(label)`," } ?? "the host program"
        return BackplaneError(
            .callUnimplemented,
            "\(caller) calls \(methods) of `\(contract.name)`, which the active code of \(provider) provides and the "
                + "new code lacks; change the caller together with it, keep the method, or allow the removal "
                + "(`ChangeOptions.allowsMissingMethods`)",
            at: location)
    }
}

extension LoadedManifest {
    /// Returns the methods that wires of this manifest use and that their providers lose with another manifest.
    ///
    /// A user that also changes is judged by its new code; new wires are not judged.
    func methodsRemoved(in new: LoadedManifest, _ succession: Succession) -> [RemovedMethods] {
        let before = succession.before.map { place in place.map { plan.nodes[$0] } }
        return new.plan.nodes.flatMap { user -> [RemovedMethods] in
            guard let known = before[user.id] else { return [] }
            let type = new.componentClass(of: user)
            return user.wires.compactMap { link in
                let provider = new.plan.nodes[link.provider]
                guard let old = before[provider.id], !isSame(old.entry, in: new, provider.entry),
                    known.wires.contains(where: { $0.label == link.label && $0.provider == old.id }),
                    let contract = type.consumerSide(ofWire: link.label)?.contract
                else { return nil }
                return RemovedMethods(
                    user.name, link.label, needing: contract, of: provider, from: old.entry.component.contract,
                    to: provider.entry.component.contract)
            }
        }
    }
}
