public import Backplane
import FoundationEssentials

/// `Plugins/Clock` once more, in Swift.
public struct TimepiecePlugin: Plugin {
    public static let id = "org.backplane.tests.timepiece"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(Timepiece.self)
    }
}

final class Timepiece: Manager {
    typealias Provides = WallTime

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.sync(\.now) { _, _, _ in Date.now }
        table.async(\.echo) { _, value, _ in value }
    }
}
