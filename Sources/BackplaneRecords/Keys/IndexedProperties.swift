import BackplaneDocuments
import BackplaneStorage

/// The values of the properties at key paths, collected from a record's JSON in one pass.
///
/// A property is `null` if it is missing, a list or a dictionary, or follows an error in the JSON. If a name occurs
/// twice, the first one counts.
struct IndexedProperties: JSONReceiver {
    private struct Property {
        let path: [[UInt8]]
        /// The number of names of the path that the open dictionaries, or the current key, match.
        var level = 0
        var value: IndexedValue?
    }
    private var properties: [Property]
    private var depth = 0
    /// The number of properties whose value is not yet known.
    private var missing: Int
    let subject = DocumentSubject.document

    /// Reads the values of the key paths, each split into names, and parses no more of the text than necessary.
    static func values(in json: [UInt8], at paths: [[[UInt8]]]) -> [IndexedValue] {
        guard !paths.isEmpty else { return [] }
        var grammar = JSONGrammar(json, IndexedProperties(paths))
        try? grammar.document()  // everything after an error is `null`
        return grammar.receiver.properties.map { $0.value ?? .null }
    }

    private init(_ paths: [[[UInt8]]]) {
        properties = paths.map { Property(path: $0) }
        missing = paths.count
    }

    mutating func valueBegins(at offset: Int) {}

    mutating func containerBegins(isObject: Bool, at offset: Int) throws(Mistake) {
        try settle(.null) { [depth] property in !isObject || property.path.count == depth }
        depth += 1
    }

    mutating func containerEnds(at end: Int) throws(Mistake) {
        depth -= 1
        try settle(.null) { _ in true }
    }

    mutating func key(_ key: String, at offset: Int) {
        for index in properties.indices
        where properties[index].level == depth - 1 && properties[index].path.count >= depth {
            if key.utf8.elementsEqual(properties[index].path[depth - 1]) { properties[index].level = depth }
        }
    }

    mutating func string(_ string: String, endingAt end: Int) throws(Mistake) { try scalar(.text(string)) }

    mutating func number(_ text: ArraySlice<UInt8>, isWhole: Bool) throws(Mistake) {
        guard properties.contains(where: { isCurrent($0) }) else { return }
        let text = String(decoding: text, as: UTF8.self)
        try scalar(Int64(text).map { .integer($0) } ?? Double(text).map { .number($0) } ?? .null)
    }

    mutating func word(_ value: Bool?, endingAt end: Int) throws(Mistake) {
        try scalar(value.map { .boolean($0) } ?? .null)
    }

    func halfOfPair(at offset: Int) {}

    private mutating func scalar(_ value: IndexedValue) throws(Mistake) {
        try settle(.null) { [depth] property in property.path.count != depth }
        try settle(value) { _ in true }
    }

    /// Returns whether the value that begins or ends here is the target of a property's path, or an ancestor of it.
    private func isCurrent(_ property: Property) -> Bool { property.value == nil && property.level == depth }

    /// Sets the value of the properties whose path ends here, and throws to end the parsing when all are known.
    private mutating func settle(_ value: IndexedValue, _ isMeant: (_ property: Property) -> Bool) throws(Mistake) {
        for index in properties.indices where isCurrent(properties[index]) && isMeant(properties[index]) {
            properties[index].value = value
            missing -= 1
        }
        if missing == 0 { throw Mistake(offset: 0, reason: "nothing else is needed") }
    }
}

extension IndexedValue {
    /// Reads a single JSON value; returns `nil` if the text is not JSON, or is a list or a dictionary.
    package init?(json: [UInt8]) {
        let first = json.first { !Self.spaces.contains($0) }
        guard first != UInt8(ascii: "{"), first != UInt8(ascii: "["), JSONCheck.isJSON(json) else { return nil }
        self = IndexedProperties.values(in: json, at: [[]])[0]
    }

    private static var spaces: [UInt8] { [0x20, 0x09, 0x0A, 0x0D] }
}
