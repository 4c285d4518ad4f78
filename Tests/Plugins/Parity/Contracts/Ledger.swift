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
    /// Whether the query came with a limit.
    public var wasLimited: Bool
    /// Since 1.4.
    public var pages: [Int]

    public init(text: String, wasLimited: Bool, pages: [Int]) {
        (self.text, self.wasLimited, self.pages) = (text, wasLimited, pages)
    }
}
