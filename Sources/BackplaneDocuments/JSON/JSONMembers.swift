/// The values of a JSON text as ranges of its bytes, with the members of objects in the order of the text.
package enum JSONMembers {
    /// A string, number, `true`, `false` or `null`.
    case scalar(Range<Int>)
    case array([JSONMembers])
    case object([(key: String, value: JSONMembers)])

    /// The maximum nesting depth of arrays and objects, so that readers may recurse.
    package static let depthLimit = 512

    /// Reads a text; returns `nil` if it is not JSON or is nested too deeply.
    package init?(of bytes: [UInt8]) {
        var grammar = JSONGrammar(bytes, Tree())
        guard (try? grammar.document()) != nil, let root = grammar.receiver.root else { return nil }
        self = root
    }

    private struct Tree: JSONReceiver {
        /// An array or object that is not complete.
        private struct Open {
            var isObject: Bool
            var keys: [String] = []
            var values: [JSONMembers] = []
        }
        var subject: DocumentSubject { .document }
        private(set) var root: JSONMembers?
        private var open: [Open] = []
        private var start = 0

        mutating func valueBegins(at offset: Int) { start = offset }

        mutating func containerBegins(isObject: Bool, at offset: Int) throws(DocumentMistake) {
            guard open.count < depthLimit else { throw DocumentMistake(offset: offset, reason: "too deep") }
            open.append(Open(isObject: isObject))
        }

        mutating func containerEnds(at end: Int) {
            let ended = open.removeLast()
            add(
                ended.isObject
                    ? .object(zip(ended.keys, ended.values).map { (key: $0, value: $1) }) : .array(ended.values))
        }

        mutating func key(_ key: String, at offset: Int) { open[open.count - 1].keys.append(key) }
        mutating func string(_ string: String, endingAt end: Int) { add(.scalar(start..<end)) }
        mutating func number(_ text: ArraySlice<UInt8>, isWhole: Bool) { add(.scalar(text.startIndex..<text.endIndex)) }
        mutating func word(_ value: Bool?, endingAt end: Int) { add(.scalar(start..<end)) }
        func halfOfPair(at offset: Int) {}

        private mutating func add(_ value: JSONMembers) {
            if open.isEmpty { root = value } else { open[open.count - 1].values.append(value) }
        }
    }
}
