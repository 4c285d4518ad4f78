import Backplane
import BackplaneDefinitions
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials

/// A loader of the definitions that the built-in class serves for a manifest, each as a separate plugin.
struct DefinitionLoader {
    private let document: ManifestDocument
    private let libraries: [LoadedPlugin]
    private let catalogue: Catalogue
    private let known: [LoadedPlugin]
    /// Whether the files of definitions that are already loaded are reread.
    private let readsFiles: Bool
    private let findSerializer: Serialize
    /// The definitions without errors; equal ones occur only once.
    private(set) var plugins: [LoadedPlugin] = []
    /// The classes and the problems, keyed by the paths of the manifest's definitions.
    private(set) var choices: [String: BuiltInChoice] = [:]

    /// A function that calls a serializer, a manager, with a response.
    typealias Serialize =
        nonisolated(nonsending) @Sendable (_ manager: String, ForeignResponse, Call) async throws(BackplaneError) ->
        Data

    private static let version: Version = "1.0.0"

    /// Loads definitions.
    ///
    /// - Parameters:
    ///   - libraries: The plugins that are libraries or linked into this program, with the consumers of definitions.
    ///   - catalogue: The classes of the libraries, which take precedence over the built-in class.
    init(
        _ document: ManifestDocument, for libraries: [LoadedPlugin], _ catalogue: Catalogue, known: [LoadedPlugin],
        readsFiles: Bool, _ serialize: @escaping Serialize
    ) {
        (self.document, self.libraries, self.catalogue, self.known) = (document, libraries, catalogue, known)
        (self.readsFiles, findSerializer) = (readsFiles, serialize)
        for (name, manager) in document.manifest.managers.sorted(by: { $0.key < $1.key }) {
            let services = manager.communicationController?.services ?? []
            guard services.contains(where: { DefinedService.classNames.contains($0.className) }) else { continue }
            add(document.definitions(of: name), of: name)
        }
    }

    private mutating func add(_ definitions: [PlacedDefinition], of manager: String) {
        guard let controller = definitions.first(where: { $0.role == .communicationController }) else { return }
        for definition in definitions where definition.role == .networkService {
            guard DefinedService.classNames.contains(definition.className),
                catalogue.best(definition.className, as: .networkService, in: definition.range) == nil
            else { continue }
            var choice = BuiltInChoice()
            do throws(Refusal) { choice = try self.choice(for: definition, calledBy: controller, of: manager) } catch {
                choice.problems = error.errors.map { Problem(.error, manager: manager, $0) }
            }
            choices[definition.path.description] = choice
        }
    }

    /// The reasons why a definition is not served; empty if another error of the manager is the reason.
    private struct Refusal: Error {
        var errors: [BackplaneError]
    }

    private mutating func choice(
        for definition: PlacedDefinition, calledBy controller: PlacedDefinition, of manager: String
    ) throws(Refusal) -> BuiltInChoice {
        if let range = definition.range, !range.contains(Self.version) {
            let words = "the built-in `\(definition.className)` is \(Self.version), which is not in \(range)"
            let place = document.place(of: definition.path / "version")
            throw Refusal(errors: [BackplaneError(.versionOutOfRange, words, at: place)])
        }
        let settings = try settings(of: definition)
        let consumer = try consumer(of: definition, by: controller, settings)
        let index = try load(definition, settings, consumer, of: manager), plugin = plugins[index]
        let entry = Catalogue.Entry(
            plugin: plugin.description.id, pluginVersion: plugin.description.version, order: libraries.count + index,
            index: 0, component: plugin.description.components[0].description)
        let warnings = plugin.definition?.warnings.map { warning in
            var error = warning
            error.location = error.location ?? document.place(of: definition.configurationPath / "contract")
            return Problem(.warning, manager: manager, error)
        }
        return BuiltInChoice(entry: entry, problems: warnings ?? [])
    }

    private func settings(of definition: PlacedDefinition) throws(Refusal) -> DefinedService.Configuration {
        let path = definition.configurationPath
        do throws(BackplaneError) {
            let settings = try JSON.decode(
                DefinedService.Configuration.self, Array(definition.definition.configuration.json),
                failing: .configurationInvalid)
            do throws(BackplaneError) { try WebService.require(baseURL: settings.baseURL) } catch {
                throw BackplaneError(error.code, error.message, at: "/baseURL")
            }
            let known = document.manifest.network.credentials
            if let name = settings.credentials, known[name] == nil {
                let names = NameSuggestions(for: name, among: known.keys)
                let rest = names.isEmpty ? "it has none" : "known: \(names.list)"
                let shown = document.shown(name, at: path / "credentials")
                throw BackplaneError(
                    .networkCredential, "the manifest has no credential `\(shown)`; \(rest)", at: "/credentials")
            }
            return settings
        } catch {
            var error = error
            error.location = document.place(of: error.location ?? "", below: path)
            throw Refusal(errors: [error])
        }
    }

    /// Returns the consumer's end of the wire to a definition, whose contract is named in the configuration.
    private func consumer(
        of definition: PlacedDefinition, by controller: PlacedDefinition, _ settings: DefinedService.Configuration
    ) throws(Refusal) -> LaneSide {
        // Without the class, or without a wire of that label, the manager has another error.
        guard let user = catalogue.best(controller.className, as: controller.role, in: controller.range),
            let label = definition.address.property,
            let side = libraries[user.order].description.components[user.index].consumerSide(ofWire: label)
        else { throw Refusal(errors: []) }
        guard side.contract.name != settings.contract ?? WebAPI.name else { return side }
        let declares = "`\(label)` of \(user) declares `\(side.contract.name)`"
        let path = definition.configurationPath
        if let contract = settings.contract {
            let path = path / "contract"
            let words = "no wire to this component declares `\(document.shown(contract, at: path))`; \(declares)"
            throw Refusal(errors: [BackplaneError(.wireMismatch, words, at: document.place(of: path))])
        }
        let words =
            "\(declares), and the configuration names no contract; add `\"contract\": \"\(side.contract.name)\"`"
        throw Refusal(errors: [BackplaneError(.wireMismatch, words, at: document.place(of: path))])
    }
}

extension DefinitionLoader {
    /// Loads a definition for a consumer, and returns its index among the plugins.
    private mutating func load(
        _ definition: PlacedDefinition, _ settings: DefinedService.Configuration, _ consumer: LaneSide,
        of manager: String
    ) throws(Refusal) -> Int {
        // Responses to a serializer's own requests are not mapped, so that no serializer waits for itself.
        let isSerializer = document.manifest.serializingManagers.contains(manager)
        let serializers = isSerializer ? [:] : document.manifest.network.serializers
        func isServed(by plugin: LoadedPlugin) -> Bool {
            plugin.definition?.serves(definition, consumer, serializers) ?? false
        }
        if let index = plugins.firstIndex(where: isServed) { return index }
        let earlier = known.first(where: isServed) ?? known.first { $0.definition?.isOf(definition) ?? false }
        do throws(BackplaneError) {
            let source = document.source(of: settings), loadedFiles = readsFiles ? nil : earlier?.definition?.files
            let files = if let loadedFiles { loadedFiles } else { try source.read() }
            if let earlier, isServed(by: earlier), earlier.definition?.files == files {
                plugins.append(earlier)
                return plugins.count - 1
            }
            let content = try DefinitionContent(files, serializers: serializers.keys)
            let served = try served(consumer, by: content, settings)
            // A swap reports the edition that was read for it.
            let read = earlier?.definition.flatMap { $0.isCompiled ? nil : $0.edition }
            let loaded = LoadedDefinition(
                of: definition, for: consumer, serializers: serializers, source, files,
                warnings: content.warnings.map { $0.located(in: files.path) } + served.warnings,
                edition: read ?? LoadedDefinition.newEdition())
            let map = serialize(by: serializers)
            let description = try PluginDescription(
                id: id(of: settings.serviceName, earlier), version: Self.version, getInterface: HostInterfaces.get,
                encodes: "the definition of `\(settings.serviceName)` returns JSON"
            ) { registrar in
                registrar.add(
                    DefinedService.self, named: definition.className, providing: served.contract, served.functions
                ) {
                    try DefinedService($0, content, serialize: map)
                }
            }
            plugins.append(
                LoadedPlugin(path: files.path, resources: nil, description: description, definition: loaded))
            return plugins.count - 1
        } catch {
            throw Refusal(errors: listed(error, at: document.place(of: definition.configurationPath)))
        }
    }

    /// Returns the function that maps responses through managers, which it finds by the names of serializers.
    private func serialize(by managers: [String: String]) -> WebService.Serialize {
        { [findSerializer] response, call async throws(BackplaneError) -> [UInt8] in
            guard let manager = managers[response.serializer] else {
                throw BackplaneError(.definitionUnknownName, "no serializer `\(response.serializer)` is registered")
            }
            return try await findSerializer(manager, response, call).withUnsafeBytes { Array($0) }
        }
    }

    /// The contract that a definition provides, with its functions and the warnings about it.
    private typealias Served = (
        contract: ContractDescription, functions: [EncodedFunction<DefinedService>], warnings: [BackplaneError]
    )

    private func served(
        _ consumer: LaneSide, by content: DefinitionContent, _ settings: DefinedService.Configuration
    ) throws(BackplaneError) -> Served {
        guard settings.contract != nil else {
            return (ContractDescription(of: WebAPI.self), [DefinedService.callByName], [])
        }
        let contract = consumer.contract, layout = consumer.layout.read().flatMap { ContractLayout(text: $0) }
        let shapes = layout.map { ContractShape.all(of: $0) } ?? [:]
        let served = ServedContract(contract, shapes, by: content.definition)
        let errors = served.problems.filter { $0.severity == .error }.map(\.error)
        guard errors.isEmpty else {
            throw BackplaneError(.wireMismatch, errors[0].message, causes: errors.count > 1 ? errors : [])
        }
        let methods = served.methods.map { MethodDescription(name: $0.name, kind: .async) }
        let warnings = served.problems.map { problem in
            var warning = problem.error
            warning.location = nil
            return warning
        }
        return (
            ContractDescription(name: contract.name, version: contract.version, methods: methods),
            served.methods.map { DefinedService.function(of: $0) }, warnings
        )
    }

    private func id(of name: String, _ earlier: LoadedPlugin?) -> String {
        let taken = Set((libraries + plugins).map(\.description.id))
        if let id = earlier?.description.id, !taken.contains(id) { return id }
        let plain = String(String.UnicodeScalarView(name.unicodeScalars.map { $0.isPartOfID ? $0 : "_" }))
        let id = "definition.\(plain)"
        guard taken.contains(id) else { return id }
        return (2...).lazy.map { "\(id)-\($0)" }.first { !taken.contains($0) } ?? id
    }

    /// Returns all errors of a definition, each located in a file or else in the manifest.
    private func listed(_ error: BackplaneError, at place: String) -> [BackplaneError] {
        let errors = error.causes.isEmpty ? [error] : error.causes
        return errors.map { cause in
            var cause = cause
            if !error.causes.isEmpty, let path = error.location {
                cause.location = cause.location ?? path
            } else if error.code == .wireMismatch {
                cause.location = place
            }
            return cause
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isPartOfID: Bool { isASCII && (properties.isAlphabetic || properties.numericType != nil) }
}

/// The origin of a plugin that consists of a definition file instead of a library.
struct LoadedDefinition: Sendable {
    let className: String
    /// The configuration as JSON, whose bytes are identical for equal configurations.
    let configuration: Data
    /// The contract as declared by its consumer, with the consumer's layout of it.
    let contract: ContractDescription
    let layout: String?
    /// The managers that map responses, keyed by the names that the definition may use.
    let serializers: [String: String]
    let source: DefinitionSource
    private(set) var files: DefinitionFiles
    /// The warnings; warnings about files are located in the files, and warnings about the contract have no location.
    let warnings: [BackplaneError]
    /// The number that distinguishes the definition from all others that have been loaded.
    private(set) var edition: UInt64
    /// Whether the plugin was created from these files.
    private(set) var isCompiled = true

    init(
        of definition: PlacedDefinition, for consumer: LaneSide, serializers: [String: String],
        _ source: DefinitionSource, _ files: DefinitionFiles, warnings: [BackplaneError], edition: UInt64
    ) {
        (className, configuration) = (definition.className, definition.definition.configuration.json)
        (contract, layout) = (consumer.contract, consumer.layout.read())
        (self.serializers, self.source, self.files) = (serializers, source, files)
        (self.warnings, self.edition) = (warnings, edition)
    }

    static func newEdition() -> UInt64 { UInt64.random(in: .min ... .max) }

    /// Returns whether this is the given definition of the manifest, possibly for another consumer.
    func isOf(_ definition: PlacedDefinition) -> Bool {
        className == definition.className && configuration == definition.definition.configuration.json
    }

    /// Returns whether the plugin serves a definition of the manifest for a consumer.
    func serves(_ definition: PlacedDefinition, _ consumer: LaneSide, _ serializers: [String: String]) -> Bool {
        isCompiled && isOf(definition) && contract == consumer.contract && layout == consumer.layout.read()
            && self.serializers == serializers
    }

    /// Returns the definition with the current contents of its files; `nil` if they are unchanged.
    ///
    /// - Throws: `definition.unreadable`.
    func reread() throws(BackplaneError) -> LoadedDefinition? {
        let new = try source.read()
        guard new != files else { return nil }
        var copy = self
        (copy.files, copy.edition, copy.isCompiled) = (new, Self.newEdition(), false)
        return copy
    }
}

/// The location of a definition's files.
struct DefinitionSource: Sendable, Hashable {
    /// The name of the web service, used to find its file in a folder.
    let name: String
    /// The absolute path of the file or of its folder.
    let path: String

    /// Reads the definition, and the header fields shared in its folder.
    ///
    /// - Throws: `definition.unreadable`.
    func read() throws(BackplaneError) -> DefinitionFiles {
        try DefinitionFiles(isFolder ? .folder(path) : .file(path), named: name)
    }

    private var isFolder: Bool { DefinitionFile.isFolder(path) == true }

    /// The paths of the files that may belong to the definition, beginning with the definition itself.
    var candidates: [String] {
        guard isFolder else { return [path, FilePath.join(FilePath.folder(of: path), DefinitionFile.sharedHeaders)] }
        return (DefinitionFile.names(of: name) + [DefinitionFile.sharedHeaders]).map { FilePath.join(path, $0) }
    }

    /// The path of the definition; if it does not exist, the path at which it is expected.
    var definition: String {
        guard isFolder else { return path }
        return candidates.first { DefinitionFile.isRegular($0) } ?? candidates[0]
    }
}

extension ManifestDocument {
    /// The files of a definition that the built-in class serves for the manifest.
    package struct DefinitionPlace: Sendable, Hashable {
        /// The path that identifies the definition in a swap.
        package var definition: String
        /// The paths of all files that belong to the definition if they exist.
        package var files: Set<String>
    }

    /// The files of the definitions that the built-in class serves for the manifest, as far as their keys are readable.
    package var definitionPlaces: Set<DefinitionPlace> {
        var places: Set<DefinitionPlace> = []
        for name in manifest.managers.keys {
            for definition in definitions(of: name) where definition.role == .networkService {
                guard DefinedService.classNames.contains(definition.className),
                    case .string(let service)? = definition.definition.configuration["serviceName"]
                else { continue }
                var path: String?
                if case .string(let given)? = definition.definition.configuration["definition"] { path = given }
                let source = source(ofDefinition: path, named: service)
                places.insert(DefinitionPlace(definition: source.definition, files: Set(source.candidates)))
            }
        }
        return places
    }

    /// Returns the location of a definition's files, relative to the manifest's folder.
    func source(of settings: DefinedService.Configuration) -> DefinitionSource {
        source(ofDefinition: settings.definition, named: settings.serviceName)
    }

    private func source(ofDefinition path: String?, named name: String) -> DefinitionSource {
        let folder = self.path.map { FilePath.folder(of: $0) } ?? "."
        return DefinitionSource(name: name, path: FilePath.absolute(FilePath.join(folder, path ?? ".")))
    }
}
