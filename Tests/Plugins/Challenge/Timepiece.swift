public import Backplane
public import FoundationEssentials
import Synchronization

/// What the plugin in C provides as well: `Plugins/Clock`.
public struct WallTime: Contract {
    public static let version: Version = "1.0.0"
    public let now = SyncMethod<Nothing, Date>()
    public let echo = AsyncMethod<String, String>()
    public init() {}
}

/// `Plugins/Clock` once more, in Swift: it can strike, by a timer and with a chime that is changed while it goes.
final class Timepiece: Manager, ReconfigurableComponent {
    typealias Provides = WallTime
    struct Configuration: Decodable, Sendable {
        /// The time between two strikes in milliseconds; without it there are none.
        var strikes: Int?
        var chime: String?
    }
    struct ChimeFailure: Error {}
    private let chime: Mutex<String>

    init(_ context: Context) throws {
        chime = Mutex(context.configuration.chime ?? "dong")
        guard let period = context.configuration.strikes else { return }
        try context.tasks.every(.milliseconds(period), name: "strike") { [self, log = context.log] _ in
            log.info("\(chime.withLock { $0 })")
        }
    }

    func reconfigure(_ configuration: Configuration) throws {
        guard configuration.chime != "fail" else { throw ChimeFailure() }
        chime.withLock { $0 = configuration.chime ?? "dong" }
    }

    static func methods(_ table: inout Methods) {
        table.sync(\.now) { _, _, _ in Date.now }
        table.async(\.echo) { _, text, _ in text }
    }
}
