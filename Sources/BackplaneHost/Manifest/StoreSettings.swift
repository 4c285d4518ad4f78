public import BackplaneRecords
public import BackplaneStorage

/// The settings of a host's record store in a manifest.
public struct StoreSettings: Sendable, Hashable {
    /// The failures that a completed write survives.
    public var durability: StoreDurability
    /// The treatment of a store whose file is damaged.
    public var damaged: DamagedStorePolicy

    /// Creates settings, by default for writes that survive the end of the machine and damage that is salvaged.
    public init(durability: StoreDurability = .full, damaged: DamagedStorePolicy = .salvage) {
        (self.durability, self.damaged) = (durability, damaged)
    }
}

extension StoreSettings {
    /// Returns the settings with the treatment of damage that a program has chosen, if it has.
    func overruled(by damaged: DamagedStorePolicy?) -> StoreSettings {
        var settings = self
        if let damaged { settings.damaged = damaged }
        return settings
    }
}
