public import Backplane

extension BackplaneError.Code {
    /// The store cannot be read or written, because of its file, its disk or its permissions.
    public static let storeUnusable = Self(rawValue: "store.unusable")
    /// The store's file is damaged; its readable records were saved, or the file was left unchanged.
    public static let storeDamaged = Self(rawValue: "store.damaged")
    /// The value stored under an id cannot be decoded as the requested type.
    public static let storeUndecodable = Self(rawValue: "store.undecodable")
    /// A condition of a write or a query does not hold, because another write has changed the data.
    public static let storeConflict = Self(rawValue: "store.conflict")
    /// Another record has the same values in a unique index.
    public static let storeDuplicate = Self(rawValue: "store.duplicate")
    /// The collection has no index of the requested name.
    public static let storeUnindexed = Self(rawValue: "store.unindexed")
    /// The engine of the store lacks a requested capability, such as full text.
    public static let storeUnsupported = Self(rawValue: "store.unsupported")
}

/// The treatment of a store whose file is damaged.
public enum DamagedStorePolicy: String, Sendable {
    /// Copies the readable records into a new file, and keeps the damaged file beside it.
    case salvage
    /// Leaves the file unchanged, and does not open the store.
    case refuse
}
