import Synchronization

@testable import Backplane

struct Tallying: Contract {
    static let version: Version = "1.0.0"
    let count = AsyncMethod<String, Int>()
    let now = SyncMethod<Nothing, Int>()
}

struct Trouble: Error {}

/// What all versions of the tally count with; `cancel` is a word that cancels, `fail` one that fails.
final class Counter: Sendable {
    private let words = Mutex<[String: Int]>([:])

    var all: [String: Int] { words.withLock { $0 } }
    func set(_ new: [String: Int]) { words.withLock { $0 = new } }

    func add(_ word: String) throws -> Int {
        if word == "fail" { throw Trouble() }
        if word == "cancel" { throw CancellationError() }
        return words.withLock { words in
            words[word, default: 0] += 1
            return words.values.reduce(0, +)
        }
    }
}

/// Its state is all that a stateful component has to say.
final class Tally: Manager, StatefulComponent {
    typealias Provides = Tallying
    struct State: Codable, Equatable { var words: [String: Int] }
    let counter = Counter()

    init(_ context: Context) {}
    func exportState() -> State { State(words: counter.all) }
    func importState(_ state: State) { counter.set(state.words) }

    static func methods(_ table: inout Methods) {
        table.async(\.count) { tally, word, _ in try tally.counter.add(word) }
        table.sync(\.now) { tally, _, _ in try tally.counter.add("fail") }
    }
}

/// The same as an actor, which is exclusive, is recreated after swaps, and is unwell with more than two words.
actor ActorTally: Manager, StatefulComponent {
    typealias Provides = Tallying
    struct State: Codable { var words: [String: Int] }
    static let className = "Tally"
    static let isExclusive = true
    static let restartOnSwap = true
    private var words: [String: Int] = [:]

    init(_ context: Context) {}
    func exportState() -> State { State(words: words) }
    func importState(_ state: State) { words = state.words }
    func health() throws { if words.count > 2 { throw Trouble() } }
    private func add(_ word: String) -> Int {
        words[word, default: 0] += 1
        return words.values.reduce(0, +)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.count) { tally, word, _ in await tally.add(word) }
        table.sync(\.now) { _, _, _ in 0 }
    }
}

/// Its next version: it keeps a list of words, reads what came before, and writes the previous one.
final class NewTally: Manager, StatefulComponent {
    struct State: Codable { var list: [String] }
    static let stateSchema = StateSchema(name: "Tally", version: 3, accepts: 0...3, writes: 1)
    private let list = Mutex<[String]>([])

    init(_ context: Context) {}
    func exportState() -> State { State(list: list.withLock { $0 }) }
    func importState(_ state: State) { list.withLock { $0 = state.list } }

    static func migrateUp(_ state: StoredState, from version: Int) throws -> State {
        switch version {
        case 1:
            State(list: try state.decode(Tally.State.self).words.flatMap { Array(repeating: $0, count: $1) }.sorted())
        case 2: State(list: try state.decode([String].self))
        default: throw Trouble()
        }
    }

    static func migrateDown(_ state: State, to version: Int) throws -> any Encodable {
        switch version {
        case 1: return Tally.State(words: Dictionary(state.list.map { ($0, 1) }, uniquingKeysWith: +))
        default: throw Trouble()
        }
    }
}

/// Says that it reads and writes what it has no migrations for.
final class MissingMigrations: Manager, StatefulComponent {
    struct State: Codable { var level: Double }
    static let stateSchema = StateSchema(name: "levels", version: 2, accepts: 1...3, writes: 1)
    private let level = Mutex(0.5)

    init(_ context: Context) {}
    func exportState() throws -> State { State(level: level.withLock { $0 }) }
    func importState(_ state: State) { level.withLock { $0 = state.level == 7 ? .infinity : state.level } }
}

/// Has nothing to carry over.
final class Stateless: Manager {
    init(_ context: Context) {}
}
