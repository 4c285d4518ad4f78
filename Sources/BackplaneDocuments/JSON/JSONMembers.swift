/// The values of a JSON text as ranges of its bytes, with the members of objects in the order of the text.
package indirect enum JSONMembers {
    /// A string, number, `true`, `false` or `null`.
    case scalar(Range<Int>)
    case array([JSONMembers])
    case object([(key: String, value: JSONMembers)])

    /// Reads a text; `nil` for what is not JSON.
    package init?(of bytes: [UInt8]) {
        var grammar = JSONGrammar(bytes, Tree())
        guard (try? grammar.document()) != nil, let root = grammar.receiver.root else { return nil }
        self = root
    }

    private struct Tree: JSONReceiver {
        private enum Open {
            case array([JSONMembers])
            case object([(key: String, value: JSONMembers)])
        }
        var subject: DocumentSubject { .document }
        private(set) var root: JSONMembers?
        private var containers: [Open] = []
        private var keys: [String] = []
        private var start = 0

        mutating func valueBegins(at offset: Int) { start = offset }
        mutating func containerBegins(isObject: Bool, at offset: Int) {
            containers.append(isObject ? .object([]) : .array([]))
        }
        mutating func containerEnds(at end: Int) {
            switch containers.removeLast() {
            case .array(let values): add(.array(values))
            case .object(let members): add(.object(members))
            }
        }
        mutating func key(_ key: String, at offset: Int) { keys.append(key) }
        mutating func string(_ string: String, endingAt end: Int) { add(.scalar(start..<end)) }
        mutating func number(_ text: ArraySlice<UInt8>, isWhole: Bool) { add(.scalar(text.startIndex..<text.endIndex)) }
        mutating func word(_ value: JSONValue, endingAt end: Int) { add(.scalar(start..<end)) }
        func halfOfPair(at offset: Int) {}

        private mutating func add(_ value: JSONMembers) {
            switch containers.popLast() {
            case .array(let values)?: containers.append(.array(values + [value]))
            case .object(let members)?: containers.append(.object(members + [(keys.removeLast(), value)]))
            case nil: root = value
            }
        }
    }
}
