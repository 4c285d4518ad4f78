public import Backplane

/// A contract that has grown since its users were compiled.
public struct Ledger: Contract {
    public static let version: Version = "1.4.0"
    public let find = AsyncMethod<LedgerQuery, [LedgerEntry]>()
    public let count = SyncMethod<LedgerQuery, Int>()
    /// Since 1.3.
    public let total = AsyncMethod<Nothing, Int>()
    public init() {}
}

public struct LedgerQuery: Codable, Sendable, Hashable {
    public var text: String
    /// Since 1.3.
    public var limit: Int?
}

public struct LedgerEntry: Codable, Sendable, Hashable {
    public var text: String
    /// A Boolean value that indicates whether the query had a limit.
    public var wasLimited: Bool
    /// Since 1.4.
    public var pages: [Int]

    public init(text: String, wasLimited: Bool, pages: [Int]) {
        (self.text, self.wasLimited, self.pages) = (text, wasLimited, pages)
    }
}

/// The contract of the readers of a ledger.
public struct LedgerReading: Contract {
    public static let version: Version = "1.0.0"
    public let find = AsyncMethod<String, [String]>()
    public let count = SyncMethod<String, Int>()
    /// Calls a method that the ledger had in version 1.2.
    public let given = AsyncMethod<String, String>()
    public init() {}
}

/// The ledger as users know it that were compiled with version 1.2.
public struct EarlierLedger: Contract {
    public static let name = "Ledger"
    public static let version: Version = "1.2.0"
    public let find = AsyncMethod<Query, [Entry]>()
    public let count = SyncMethod<Query, Int>()
    /// A method that version 1.4 has removed, which violates the rules for versions.
    public let given = AsyncMethod<String, String>()
    public init() {}

    public struct Query: Codable, Sendable, Hashable {
        public var text: String

        public init(text: String) { self.text = text }
    }

    public struct Entry: Codable, Sendable, Hashable {
        public var text: String
        public var wasLimited: Bool

        public init(text: String, wasLimited: Bool) { (self.text, self.wasLimited) = (text, wasLimited) }
    }
}

/// The same version with a different input, as after a change of a contract without a new version.
public struct OtherLedger: Contract {
    public static let name = "Ledger"
    public static let version: Version = "1.4.0"
    public let find = AsyncMethod<Query, [LedgerEntry]>()
    public let count = SyncMethod<Query, Int>()
    public let total = AsyncMethod<Nothing, Int>()
    public init() {}

    public struct Query: Codable, Sendable, Hashable {
        public var text: String
        public var limit: Int?
        public var note: String

        public init(text: String, limit: Int?, note: String) {
            (self.text, self.limit, self.note) = (text, limit, note)
        }
    }
}

public struct LaterLedger: Contract {
    public static let name = "Ledger"
    public static let version: Version = "1.4.1"
    public let total = AsyncMethod<Nothing, Int>()
    public init() {}
}

public struct OtherMajorLedger: Contract {
    public static let name = "Ledger"
    public static let version: Version = "2.0.0"
    public let total = AsyncMethod<Nothing, Int>()
    public init() {}
}

/// The ledger with a synchronous method in place of an asynchronous one.
public struct OtherKindLedger: Contract {
    public static let name = "Ledger"
    public static let version: Version = "1.4.0"
    public let total = SyncMethod<Nothing, Int>()
    public init() {}
}
