import Backplane
import Synchronization

@testable import BackplaneHost

/// The counter's class as other editions of its plugin have it.
enum OtherCounters {
    /// More methods, a minor version up.
    static let wider = LinkedPlugin(id: CounterHost.plugin, version: "2.0.0") { $0.add(WiderCounter.self) }
    /// Another contract.
    static let strange = LinkedPlugin(id: CounterHost.plugin, version: "3.0.0") { $0.add(IncompatibleCounter.self) }
    /// State of the next version, with a way up and a way down.
    static let newer = LinkedPlugin(id: CounterHost.plugin, version: "4.0.0") { $0.add(NewerCounter.self) }
    /// The same without a way down.
    static let oneWay = LinkedPlugin(id: CounterHost.plugin, version: "5.0.0") { $0.add(OneWayCounter.self) }
    /// Fewer methods, the same version.
    static let narrower = LinkedPlugin(id: CounterHost.plugin, version: "6.0.0") { $0.add(NarrowerCounter.self) }
}

struct WiderCounting: Contract {
    static let name = "Counting"
    static let version: Version = "1.1.0"
    let add = AsyncMethod<Int, Int>()
    let more = SyncMethod<Nothing, Int>()
    let edition = AsyncMethod<Nothing, Int>()
    let sumNow = SyncMethod<Nothing, Int>()
    let editionNow = SyncMethod<Nothing, Int>()
    let act = AsyncMethod<String, String>()
    let actNow = SyncMethod<String, String>()
}

final class WiderCounter: Manager, StatefulComponent {
    typealias Provides = WiderCounting
    typealias Configuration = StatefulCounter.Configuration
    static let className = "StatefulCounter"
    static let stateSchema = StateSchema(name: "counter")
    private let sum = Mutex(0)

    init(_ context: Context) {}
    func exportState() -> CounterState { CounterState(sum: sum.withLock { $0 }) }
    func importState(_ state: CounterState) { sum.withLock { $0 = state.sum } }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { counter, number, _ in
            counter.sum.withLock {
                $0 += number
                return $0
            }
        }
        table.sync(\.more) { _, _, _ in 0 }
        table.async(\.edition) { _, _, _ in 2 }
        table.sync(\.sumNow) { counter, _, _ in counter.sum.withLock { $0 } }
        table.sync(\.editionNow) { _, _, _ in 2 }
        table.async(\.act) { _, text, _ in text }
        table.sync(\.actNow) { _, text, _ in text }
    }
}

struct IncompatibleCounting: Contract {
    static let name = "Counting"
    static let version: Version = "2.0.0"
    let edition = AsyncMethod<Nothing, Int>()
}

final class IncompatibleCounter: Manager, StatefulComponent {
    typealias Provides = IncompatibleCounting
    typealias Configuration = StatefulCounter.Configuration
    static let className = "StatefulCounter"
    static let stateSchema = StateSchema(name: "counter")

    init(_ context: Context) {}
    func exportState() -> CounterState { CounterState() }
    func importState(_ state: CounterState) {}
    static func methods(_ table: inout Methods) { table.async(\.edition) { _, _, _ in 3 } }
}

/// The counter's contract without `act` and `edition`.
struct NarrowerCounting: Contract {
    static let name = "Counting"
    static let version: Version = "1.0.0"
    let add = AsyncMethod<Int, Int>()
    let sumNow = SyncMethod<Nothing, Int>()
    let editionNow = SyncMethod<Nothing, Int>()
    let actNow = SyncMethod<String, String>()
}

final class NarrowerCounter: Manager, StatefulComponent {
    typealias Provides = NarrowerCounting
    typealias Configuration = StatefulCounter.Configuration
    static let className = "StatefulCounter"
    static let stateSchema = StateSchema(name: "counter")
    private let sum = Mutex(0)

    init(_ context: Context) {}
    func exportState() -> CounterState { CounterState(sum: sum.withLock { $0 }) }
    func importState(_ state: CounterState) { sum.withLock { $0 = state.sum } }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { counter, number, _ in
            counter.sum.withLock {
                $0 += number
                return $0
            }
        }
        table.sync(\.sumNow) { counter, _, _ in counter.sum.withLock { $0 } }
        table.sync(\.editionNow) { _, _, _ in 6 }
        table.sync(\.actNow) { _, text, _ in text }
    }
}

/// The sum in cents.
struct NewerState: Codable, Sendable {
    var cents = 0
}

final class NewerCounter: Manager, StatefulComponent {
    typealias Provides = Counting
    typealias Configuration = StatefulCounter.Configuration
    static let className = "StatefulCounter"
    static let stateSchema = StateSchema(name: "counter", version: 2, accepts: 1...2, writes: 1)
    private let cents = Mutex(0)

    init(_ context: Context) {}
    func exportState() -> NewerState { NewerState(cents: cents.withLock { $0 }) }
    func importState(_ state: NewerState) { cents.withLock { $0 = state.cents } }
    static func migrateUp(_ state: StoredState, from version: Int) throws -> NewerState {
        NewerState(cents: try state.decode(CounterState.self).sum * 100)
    }
    static func migrateDown(_ state: NewerState, to version: Int) throws -> any Encodable {
        CounterState(sum: state.cents / 100)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { counter, number, _ in
            counter.cents.withLock {
                $0 += number * 100
                return $0 / 100
            }
        }
        table.async(\.edition) { _, _, _ in 4 }
        table.sync(\.sumNow) { counter, _, _ in counter.cents.withLock { $0 / 100 } }
        table.sync(\.editionNow) { _, _, _ in 4 }
        table.async(\.act) { _, text, _ in throw BackplaneError(.componentFailed, text) }
        table.sync(\.actNow) { _, text, _ in text }
    }
}

final class OneWayCounter: Manager, StatefulComponent {
    typealias Provides = Counting
    typealias Configuration = StatefulCounter.Configuration
    static let className = "StatefulCounter"
    static let stateSchema = StateSchema(name: "counter", version: 2, accepts: 1...2)
    private let cents = Mutex(0)

    init(_ context: Context) {}
    func exportState() -> NewerState { NewerState(cents: cents.withLock { $0 }) }
    func importState(_ state: NewerState) { cents.withLock { $0 = state.cents } }
    static func migrateUp(_ state: StoredState, from version: Int) throws -> NewerState {
        NewerState(cents: try state.decode(CounterState.self).sum * 100)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { counter, number, _ in
            counter.cents.withLock {
                $0 += number * 100
                return $0 / 100
            }
        }
        table.async(\.edition) { _, _, _ in 5 }
        table.sync(\.sumNow) { counter, _, _ in counter.cents.withLock { $0 / 100 } }
        table.sync(\.editionNow) { _, _, _ in 5 }
        table.async(\.act) { _, text, _ in throw BackplaneError(.componentFailed, text) }
        table.sync(\.actNow) { _, text, _ in text }
    }
}
