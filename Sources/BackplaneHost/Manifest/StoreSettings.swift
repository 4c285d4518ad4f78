public import BackplaneStorage

/// The settings of a host's record store in a manifest.
public struct StoreSettings: Sendable, Hashable {
    /// The treatment of a store whose file is damaged.
    public var damaged: DamagedStorePolicy

    /// Creates settings, by which a damaged store is salvaged unless it is to be refused.
    public init(damaged: DamagedStorePolicy = .salvage) { self.damaged = damaged }
}
