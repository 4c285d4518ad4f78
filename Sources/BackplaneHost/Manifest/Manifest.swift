public import Backplane
public import BackplaneDocuments
public import BackplaneExchange
public import BackplaneNetwork
public import BackplaneRecords
public import BackplaneStorage

/// The definition of a host: the plugins to load, and the managers to build with their collaborators.
///
/// A manifest is read from a file or built in Swift:
///
/// ```swift
/// let manifest = Manifest(managers: [
///     "LibraryManager": ManagerDefinition(
///         dataAccessController: ComponentDefinition(className: "BookStore", configuration: ["keep": 500]))
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

    /// The settings of the host's own server; `nil` if it has none.
    public var server: ServerSettings?

    /// The settings of the screens; `nil` if the manifest has none.
    public var screens: ScreenSettings?

    /// The settings of swaps.
    public var swap: SwapSettings

    /// Creates a manifest in Swift.
    public init(
        plugins: [PluginReference]? = nil, managers: [String: ManagerDefinition], lock: [String: LockedClass]? = nil,
        store: StoreSettings = StoreSettings(), network: NetworkSettings = NetworkSettings(),
        server: ServerSettings? = nil, screens: ScreenSettings? = nil, swap: SwapSettings = SwapSettings()
    ) {
        (self.plugins, self.managers, self.lock, self.store) = (plugins, managers, lock, store)
        (self.network, self.server, self.screens, self.swap) = (network, server, screens, swap)
    }

    /// Creates a manifest from a file that must have no errors; ``ManifestDocument`` reads a file that may have some.
    ///
    /// The parameters are the same as in ``ManifestDocument/init(contentsOf:environment:variables:)``.
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

/// A library to load, which a string literal names.
public struct PluginReference: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The library's name without the platform's affixes: `Bookshelf` is `libBookshelf.so` on Linux.
    public var library: String
    /// The accepted versions of the plugin; `nil` accepts any.
    public var version: VersionRange?
    /// The SHA-256 digest of the file, as 64 lower-case hexadecimal digits; `nil` if it is not to be checked.
    public var sha256: String?
    /// The name of the folder next to the library that contains the plugin's files.
    ///
    /// `nil` means `<Package>_<Library>.resources`, if it exists.
    public var resources: String?

    /// Creates an entry of the manifest's `plugins`.
    public init(library: String, version: VersionRange? = nil, sha256: String? = nil, resources: String? = nil) {
        (self.library, self.version, self.sha256, self.resources) = (library, version, sha256, resources)
    }

    /// Creates an entry of a library alone.
    public init(stringLiteral library: String) { self.init(library: library) }
}

/// The file and the environment from which a manifest was read.
package struct ManifestSource: Sendable, Hashable {
    /// The path of the file; `nil` if the manifest was not read from a file.
    package var path: String?
    /// The name of the environment; `nil` if there is none.
    package var environment: String?
}

/// The time at which a manager starts.
public enum Activation: String, Sendable, Hashable, CaseIterable {
    /// Activation together with the host.
    case eager
    /// Activation when the manager, or one that uses it, is first looked up.
    case lazy
}

/// The settings of a host's swaps in a manifest.
public struct SwapSettings: Sendable, Hashable {
    /// The policy for long calls, used for swaps whose options specify none.
    public var drain: DrainPolicy

    /// Creates settings with a policy for long calls.
    public init(drain: DrainPolicy = .standard) { self.drain = drain }
}

/// The settings of a host's record store in a manifest.
public struct StoreSettings: Sendable, Hashable {
    /// The failures that a completed write survives.
    public var durability: StoreDurability
    /// The policy for a store with a damaged file.
    public var damaged: DamagedStorePolicy

    /// Creates settings; by default, writes survive a crash of the machine, and damaged files are moved aside.
    public init(durability: StoreDurability = .full, damaged: DamagedStorePolicy = .moveAside) {
        (self.durability, self.damaged) = (durability, damaged)
    }
}

extension StoreSettings {
    func overruled(by damaged: DamagedStorePolicy?) -> StoreSettings {
        var settings = self
        if let damaged { settings.damaged = damaged }
        return settings
    }

    /// Returns the locations of the settings that differ, which a host with an open store cannot change.
    func changes(to new: StoreSettings) -> [String] {
        (damaged == new.damaged ? [] : ["/store/damaged"])
            + (durability == new.durability ? [] : ["/store/durability"])
    }
}

/// The settings of a host's network in a manifest.
public struct NetworkSettings: Sendable, Hashable {
    /// The managers that carry out exchanges, keyed by URL scheme, which is also the executor's name in options.
    public var executors: [String: String]
    /// The settings of TLS by host name, in lower case; paths are relative to the manifest's folder.
    public var tls: [String: TLSSettings]
    /// The names of the hosts to which the trace of a call is sent, as the header field `traceparent`.
    public var traced: [String]
    /// The credentials that requests may choose, by name.
    public var credentials: [String: Credential]
    /// The limits for the hosts of requests, keyed by name, by name and port, or by `*` for all other hosts.
    public var limits: [String: HostLimits]
    /// The managers that intercept exchanges, with the first one outermost.
    public var interceptors: [NetworkInterceptor]
    /// The managers that map responses of definitions, keyed by the names of serializers in definitions.
    public var serializers: [String: String]
    /// The cache of responses.
    public var cache: CacheSettings

    /// Creates settings, which are empty by default.
    public init(
        executors: [String: String] = [:], tls: [String: TLSSettings] = [:], traced: [String] = [],
        interceptors: [NetworkInterceptor] = [], credentials: [String: Credential] = [:],
        serializers: [String: String] = [:], limits: [String: HostLimits] = [:],
        cache: CacheSettings = CacheSettings()
    ) {
        (self.executors, self.tls, self.traced, self.cache) = (executors, tls, traced, cache)
        (self.interceptors, self.credentials, self.serializers) = (interceptors, credentials, serializers)
        self.limits = limits
    }

    /// The managers that take part in exchanges.
    var managers: Set<String> {
        Set(executors.values).union(interceptors.map(\.manager)).union(authenticators)
            .union(serializers.values).union(cache.provider.map { [$0] } ?? [])
    }

    var authenticators: [String] {
        Set(
            credentials.values.compactMap { credential -> String? in
                if case .component(let manager, _) = credential.scheme { manager } else { nil }
            }
        ).sorted()
    }
}

/// The limits of the cache of responses, and the manager that takes the place of the disk.
public struct CacheSettings: Sendable, Hashable {
    /// The maximum number of bytes in memory; 32 MB by default.
    public var memory: Int
    /// The maximum number of bytes on the disk, 256 MB by default; 0 puts the responses into memory.
    public var disk: Int
    /// The name of the manager that stores responses in place of the disk; `nil` for the disk.
    public var provider: String?

    /// Creates settings; any that are not specified have their default values.
    public init(memory: Int = 32 << 20, disk: Int = 256 << 20, provider: String? = nil) {
        (self.memory, self.disk, self.provider) = (memory, disk, provider)
    }
}

/// A manager that intercepts exchanges.
public struct NetworkInterceptor: Sendable, Hashable {
    /// The manager's name.
    public var manager: String
    /// The names of the hosts whose exchanges are intercepted; empty for every host.
    public var hosts: [String]

    /// Creates an interceptor, by default for every host.
    public init(_ manager: String, hosts: [String] = []) { (self.manager, self.hosts) = (manager, hosts) }
}

extension Manifest {
    /// The managers that map responses of definitions, and all managers that they use.
    var serializingManagers: Set<String> {
        var found: Set<String> = [], waiting = Array(network.serializers.values)
        while let name = waiting.popLast() {
            if found.insert(name).inserted { waiting += managers[name].map { Array($0.uses.values) } ?? [] }
        }
        return found
    }
}
