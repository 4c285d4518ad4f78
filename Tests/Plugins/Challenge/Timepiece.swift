public import Backplane
public import FoundationEssentials

/// What the plugin in C provides as well: `Plugins/Clock`.
public struct WallTime: Contract {
    public static let version: Version = "1.0.0"
    public let now = SyncMethod<Nothing, Date>()
    public let echo = AsyncMethod<String, String>()
    public init() {}
}

/// `Plugins/Clock` once more, in Swift.
final class Timepiece: Manager {
    typealias Provides = WallTime

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.sync(\.now) { _, _, _ in Date.now }
        table.async(\.echo) { _, text, _ in text }
    }
}
