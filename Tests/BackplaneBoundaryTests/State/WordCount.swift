import Backplane

struct WordCounting: Contract {
    static let version: Version = "1.0.0"
    let count = AsyncMethod<String, Int>()
}

// The part between the marks stands in docs/state.md.
// example
actor WordCount: Manager, StatefulComponent {
    typealias Provides = WordCounting

    /// Version 1 was one number, of all words together.
    struct State: Codable { var counts: [String: Int] }
    static let stateSchema = StateSchema(name: "words", version: 2, accepts: 1...2, writes: 1)

    private var counts: [String: Int] = [:]

    init(_ context: Context) {}

    func exportState() -> State { State(counts: counts) }
    func importState(_ state: State) { counts = state.counts }

    static func migrateUp(_ state: StoredState, from version: Int) throws -> State {
        State(counts: ["earlier words": try state.decode(Int.self)])
    }
    static func migrateDown(_ state: State, to version: Int) -> any Encodable {
        state.counts.values.reduce(0, +)
    }

    func count(_ word: String) -> Int {
        counts[word, default: 0] += 1
        return counts[word, default: 0]
    }
    static func methods(_ table: inout Methods) {
        table.async(\.count) { counter, word, _ in await counter.count(word) }
    }
}
// end
