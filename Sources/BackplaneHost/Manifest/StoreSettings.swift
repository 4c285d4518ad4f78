public import BackplaneRecords
public import BackplaneStorage

/// The settings of a host's record store in a manifest.
public struct StoreSettings: Sendable, Hashable {
    /// The failures that a completed write survives.
    public var durability: StoreDurability
    /// The policy for a store with a damaged file.
    public var damaged: DamagedStorePolicy

    /// Creates settings, by default for writes that survive a crash of the machine and for damage that is salvaged.
    public init(durability: StoreDurability = .full, damaged: DamagedStorePolicy = .salvage) {
        (self.durability, self.damaged) = (durability, damaged)
    }
}

extension StoreSettings {
    /// Returns the settings with the policy for damage that a program has chosen, if any.
    func overruled(by damaged: DamagedStorePolicy?) -> StoreSettings {
        var settings = self
        if let damaged { settings.damaged = damaged }
        return settings
    }
}
