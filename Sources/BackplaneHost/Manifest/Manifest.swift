public import Backplane
public import BackplaneDocuments

/// The definition of a host: the plugins to load, and the managers to build with their collaborators.
///
/// A manifest is read from a file or built in Swift:
///
/// ```swift
/// let manifest = Manifest(managers: [
///     "LibraryManager": ManagerDefinition(
///         className: "LibraryManager",
///         dataAccessController: DataAccessControllerDefinition(className: "BookStore", configuration: ["keep": 500]))
/// ])
/// ```
public struct Manifest: Sendable, Hashable {
    /// The plugins to load, in order; `nil` means all plugins found in the plugin folders.
    public var plugins: [PluginReference]?
    /// The definitions of the managers, by name.
    public var managers: [String: ManagerDefinition]

    /// The pinned version and plugin of each definition, keyed as in ``LockedClass``; `nil` pins nothing.
    public var lock: [String: LockedClass]?

    /// The settings of the record store.
    public var store: StoreSettings

    /// The settings of the network.
    public var network: NetworkSettings

    /// The settings of swaps.
    public var swap: SwapSettings

    /// Creates a manifest in Swift.
    public init(
        plugins: [PluginReference]? = nil, managers: [String: ManagerDefinition], lock: [String: LockedClass]? = nil,
        store: StoreSettings = StoreSettings(), network: NetworkSettings = NetworkSettings(),
        swap: SwapSettings = SwapSettings()
    ) {
        (self.plugins, self.managers, self.lock, self.store) = (plugins, managers, lock, store)
        (self.network, self.swap) = (network, swap)
    }

    /// Creates a manifest from a file that must have no errors; ``ManifestDocument`` reads a file that may have some.
    ///
    /// The parameters are those of ``ManifestDocument/init(contentsOf:environment:variables:)``.
    ///
    /// - Throws: The only error, or the first of several with all of them as its causes.
    public init(
        contentsOf path: String, environment: String? = nil,
        variables: @escaping (String) -> String? = ManifestDocument.processVariable
    ) throws(BackplaneError) {
        self = try ManifestDocument(contentsOf: path, environment: environment, variables: variables).soundManifest
    }

    /// Creates a manifest from values in memory, in the `backplane` dialect or as a plain Nemo Logic manifest.
    ///
    /// - Throws: The only error, or the first of several with all of them as its causes.
    public init(dictionary: [String: ManifestValue]) throws(BackplaneError) {
        self = try ManifestDocument(.dictionary(dictionary)).soundManifest
    }
}

/// A library to load.
public struct PluginReference: Sendable, Hashable {
    /// The library's name without the platform's affixes: `Bookshelf` is `libBookshelf.so` on Linux.
    public var library: String
    /// The accepted versions of the plugin; `nil` accepts any.
    public var version: VersionRange?
    /// The SHA-256 digest of the file, as 64 lower-case hexadecimal digits; `nil` if it is not to be checked.
    public var sha256: String?
    /// The name of the folder next to the library that contains the plugin's files.
    ///
    /// `nil` means `<Package>_<Library>.resources` or `<Package>_<Library>Module.resources`, if one of them exists.
    public var resources: String?

    /// Creates an entry of the manifest's `plugins`.
    public init(library: String, version: VersionRange? = nil, sha256: String? = nil, resources: String? = nil) {
        (self.library, self.version, self.sha256, self.resources) = (library, version, sha256, resources)
    }
}
