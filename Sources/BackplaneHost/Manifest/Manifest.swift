public import Backplane
public import BackplaneDocuments

/// What a host is made of: the plugins to load, and the managers to build with their layers.
///
/// Read from a file, or made in Swift:
///
/// ```swift
/// let manifest = Manifest(managers: [
///     "LibraryManager": ManagerDefinition(
///         className: "LibraryManager",
///         dataAccessController: DataAccessControllerDefinition(className: "BookStore", configuration: ["keep": 500]))
/// ])
/// ```
public struct Manifest: Sendable, Hashable {
    /// The plugins to load, in order; `nil`: every one that is found in the plugin folders.
    public var plugins: [PluginReference]?
    /// The managers by name.
    public var managers: [String: ManagerDefinition]

    /// What was chosen for the definitions, by their keys (see ``LockedClass``); `nil`: nothing is held to anything.
    public var lock: [String: LockedClass]?

    public init(plugins: [PluginReference]? = nil, managers: [String: ManagerDefinition], lock: [String: LockedClass]? = nil) {
        (self.plugins, self.managers, self.lock) = (plugins, managers, lock)
    }

    /// Reads a manifest that must be without an error; ``ManifestDocument`` reads one that may have some.
    ///
    /// - Parameters: as of ``ManifestDocument/init(contentsOf:environment:variables:)``.
    /// - Throws: the error, or the first of several with all of them as its causes.
    public init(
        contentsOf path: String, environment: String? = nil, variables: @escaping (String) -> String? = ManifestDocument.processVariable
    ) throws(BackplaneError) {
        self = try ManifestDocument(contentsOf: path, environment: environment, variables: variables).soundManifest
    }

    /// Reads a manifest, ours or a plain Nemo Logic one, from values that are already in memory.
    ///
    /// - Throws: the error, or the first of several with all of them as its causes.
    public init(dictionary: [String: ManifestValue]) throws(BackplaneError) {
        self = try ManifestDocument(.dictionary(dictionary)).soundManifest
    }
}

/// A library to load.
public struct PluginReference: Sendable, Hashable {
    /// The name that becomes the platform's file name: `Bookshelf` is `libBookshelf.so` on Linux.
    public var library: String
    /// The plugin versions that are accepted; `nil`: any.
    public var version: VersionRange?
    /// The file's SHA-256 in 64 lower-case hexadecimal digits; `nil`: not checked.
    public var sha256: String?
    /// The name of the folder beside the library that has the plugin's files; `nil`: `<Package>_<Library>.resources` or
    /// `<Package>_<Library>Module.resources`, where there is one of them.
    public var resources: String?

    public init(library: String, version: VersionRange? = nil, sha256: String? = nil, resources: String? = nil) {
        (self.library, self.version, self.sha256, self.resources) = (library, version, sha256, resources)
    }
}
