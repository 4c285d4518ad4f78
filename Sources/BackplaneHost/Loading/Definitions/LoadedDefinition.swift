import Backplane
import BackplaneBoundary
import BackplaneDefinitions
import FoundationEssentials

/// The origin of a plugin that consists of a definition file instead of a library.
struct LoadedDefinition: Sendable {
    /// The name of the class in the manifest.
    let className: String
    /// The configuration as JSON, whose bytes are identical for equal configurations.
    let configuration: Data
    /// The contract as declared by its consumer, with the consumer's layout of it.
    let contract: ContractDescription
    let layout: String?
    /// The managers that map responses, keyed by the names that the definition may use.
    let serializers: [String: String]
    /// The files and their location.
    let source: DefinitionSource
    private(set) var files: DefinitionFiles
    /// The warnings; those about the files are located in the files.
    let warnings: [Warning]
    /// The number that distinguishes the definition from all others that have been loaded.
    private(set) var edition: UInt64
    /// A Boolean value that indicates whether the files are those from which the plugin was created.
    private(set) var isCompiled = true

    /// A non-fatal problem.
    struct Warning: Sendable {
        var error: BackplaneError
        /// A Boolean value that indicates whether the warning concerns the contract rather than the files.
        var isOfContract: Bool
    }

    init(
        of definition: ComponentDefinition, for consumer: LaneSide, serializers: [String: String],
        _ source: DefinitionSource, _ files: DefinitionFiles, warnings: [Warning], edition: UInt64
    ) {
        (className, configuration) = (definition.className, definition.configuration.json)
        (contract, layout) = (consumer.contract, consumer.layout.read())
        (self.serializers, self.source, self.files) = (serializers, source, files)
        (self.warnings, self.edition) = (warnings, edition)
    }

    static func newEdition() -> UInt64 { UInt64.random(in: .min ... .max) }

    /// Returns whether this is the given definition of the manifest, possibly for another consumer.
    func isOf(_ definition: ComponentDefinition) -> Bool {
        className == definition.className && configuration == definition.configuration.json
    }

    /// Returns whether the plugin serves a definition of the manifest for a consumer.
    func serves(_ definition: ComponentDefinition, _ consumer: LaneSide, _ serializers: [String: String]) -> Bool {
        isCompiled && isOf(definition) && contract == consumer.contract && layout == consumer.layout.read()
            && self.serializers == serializers
    }

    /// Returns the definition with the current contents of its files; `nil` if they are unchanged.
    ///
    /// - Throws: `definition.unreadable`.
    func reread() throws(BackplaneError) -> LoadedDefinition? {
        let new = try source.read()
        guard !new.isSame(as: files) else { return nil }
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
    func read() throws(BackplaneError) -> DefinitionFiles { try DefinitionFiles(source, named: name) }

    private var source: WebService.Source { isFolder ? .folder(path) : .file(path) }

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
