package import BackplaneDocuments

/// The strings of the properties at key paths, including those in lists, collected from a record's JSON in one pass.
package struct TextProperties: JSONReceiver {
    private let paths: [[[UInt8]]]
    /// The strings found at each path.
    private var texts: [[String]]
    /// The keys of the open dictionaries, which form the path of the current value; lists add none.
    private var keys: [[UInt8]] = []
    /// A Boolean value that indicates whether each open container is a dictionary.
    private var containers: [Bool] = []
    package let subject = DocumentSubject.document

    /// Returns a string for each of the key paths, which are split into names; the strings of a list are on separate
    /// lines.
    ///
    /// Everything after an error in the JSON is omitted, as are zero bytes in the strings, which would terminate them
    /// in SQLite.
    package static func texts(in json: [UInt8], at paths: [[[UInt8]]]) -> [String] {
        var grammar = JSONGrammar(json, TextProperties(paths))
        try? grammar.document()
        return grammar.receiver.texts.map { $0.joined(separator: "\n").replacing("\0", with: " ") }
    }

    private init(_ paths: [[[UInt8]]]) { (self.paths, texts) = (paths, paths.map { _ in [] }) }

    package mutating func valueBegins(at offset: Int) {}

    package mutating func containerBegins(isObject: Bool, at offset: Int) {
        containers.append(isObject)
        if isObject { keys.append([]) }
    }

    package mutating func containerEnds(at end: Int) {
        if containers.popLast() == true { keys.removeLast() }
    }

    package mutating func key(_ key: String, at offset: Int) { keys[keys.count - 1] = Array(key.utf8) }

    package mutating func string(_ string: String, endingAt end: Int) {
        for index in paths.indices where paths[index] == keys { texts[index].append(string) }
    }

    package func number(_ text: ArraySlice<UInt8>, isWhole: Bool) {}
    package func word(_ value: Bool?, endingAt end: Int) {}
    package func halfOfPair(at offset: Int) {}
}
