import Backplane
import Synchronization

@testable import BackplaneHost

/// The till's class as other editions of its plugin have it.
enum OtherTills {
    /// More methods, a minor version up.
    static let wider = LinkedPlugin(id: TillHost.plugin, version: "2.0.0") { $0.add(WiderTill.self) }
    /// Another contract.
    static let strange = LinkedPlugin(id: TillHost.plugin, version: "3.0.0") { $0.add(StrangeTill.self) }
    /// State of the next version, with a way up and a way down.
    static let newer = LinkedPlugin(id: TillHost.plugin, version: "4.0.0") { $0.add(NewerTill.self) }
    /// The same without a way down.
    static let oneWay = LinkedPlugin(id: TillHost.plugin, version: "5.0.0") { $0.add(OneWayTill.self) }
}

struct WiderTills: Contract {
    static let name = "Tills"
    static let version: Version = "1.1.0"
    let add = AsyncMethod<Int, Int>()
    let take = AsyncMethod<Int, Int>()
    let edition = AsyncMethod<Nothing, Int>()
    let sumNow = SyncMethod<Nothing, Int>()
    let editionNow = SyncMethod<Nothing, Int>()
    let act = AsyncMethod<String, String>()
    let actNow = SyncMethod<String, String>()
}

final class WiderTill: Manager, StatefulComponent {
    typealias Provides = WiderTills
    typealias Configuration = TillManager.Configuration
    static let className = "TillManager"
    static let stateSchema = StateSchema(name: "till")
    private let sum = Mutex(0)

    init(_ context: Context) {}
    func exportState() -> TillState { TillState(sum: sum.withLock { $0 }) }
    func importState(_ state: TillState) { sum.withLock { $0 = state.sum } }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { till, number, _ in
            till.sum.withLock {
                $0 += number
                return $0
            }
        }
        table.async(\.take) { till, number, _ in
            till.sum.withLock {
                $0 -= number
                return $0
            }
        }
        table.async(\.edition) { _, _, _ in 2 }
        table.sync(\.sumNow) { till, _, _ in till.sum.withLock { $0 } }
        table.sync(\.editionNow) { _, _, _ in 2 }
        table.async(\.act) { _, text, _ in text }
        table.sync(\.actNow) { _, text, _ in text }
    }
}

struct StrangeTills: Contract {
    static let name = "Tills"
    static let version: Version = "2.0.0"
    let edition = AsyncMethod<Nothing, Int>()
}

final class StrangeTill: Manager, StatefulComponent {
    typealias Provides = StrangeTills
    typealias Configuration = TillManager.Configuration
    static let className = "TillManager"
    static let stateSchema = StateSchema(name: "till")

    init(_ context: Context) {}
    func exportState() -> TillState { TillState() }
    func importState(_ state: TillState) {}
    static func methods(_ table: inout Methods) { table.async(\.edition) { _, _, _ in 3 } }
}

/// The sum in cents.
struct NewerState: Codable, Sendable {
    var cents = 0
}

final class NewerTill: Manager, StatefulComponent {
    typealias Provides = Tills
    typealias Configuration = TillManager.Configuration
    static let className = "TillManager"
    static let stateSchema = StateSchema(name: "till", version: 2, accepts: 1...2, writes: 1)
    private let cents = Mutex(0)

    init(_ context: Context) {}
    func exportState() -> NewerState { NewerState(cents: cents.withLock { $0 }) }
    func importState(_ state: NewerState) { cents.withLock { $0 = state.cents } }
    static func migrateUp(_ state: StoredState, from version: Int) throws -> NewerState {
        NewerState(cents: try state.decode(TillState.self).sum * 100)
    }
    static func migrateDown(_ state: NewerState, to version: Int) throws -> any Encodable {
        TillState(sum: state.cents / 100)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { till, number, _ in
            till.cents.withLock {
                $0 += number * 100
                return $0 / 100
            }
        }
        table.async(\.edition) { _, _, _ in 4 }
        table.sync(\.sumNow) { till, _, _ in till.cents.withLock { $0 / 100 } }
        table.sync(\.editionNow) { _, _, _ in 4 }
        table.async(\.act) { _, text, _ in throw BackplaneError(.componentFailed, text) }
        table.sync(\.actNow) { _, text, _ in text }
    }
}

final class OneWayTill: Manager, StatefulComponent {
    typealias Provides = Tills
    typealias Configuration = TillManager.Configuration
    static let className = "TillManager"
    static let stateSchema = StateSchema(name: "till", version: 2, accepts: 1...2)
    private let cents = Mutex(0)

    init(_ context: Context) {}
    func exportState() -> NewerState { NewerState(cents: cents.withLock { $0 }) }
    func importState(_ state: NewerState) { cents.withLock { $0 = state.cents } }
    static func migrateUp(_ state: StoredState, from version: Int) throws -> NewerState {
        NewerState(cents: try state.decode(TillState.self).sum * 100)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { till, number, _ in
            till.cents.withLock {
                $0 += number * 100
                return $0 / 100
            }
        }
        table.async(\.edition) { _, _, _ in 5 }
        table.sync(\.sumNow) { till, _, _ in till.cents.withLock { $0 / 100 } }
        table.sync(\.editionNow) { _, _, _ in 5 }
        table.async(\.act) { _, text, _ in throw BackplaneError(.componentFailed, text) }
        table.sync(\.actNow) { _, text, _ in text }
    }
}
