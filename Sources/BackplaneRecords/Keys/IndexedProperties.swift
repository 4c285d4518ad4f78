import BackplaneDocuments
import BackplaneStorage

/// The values of the properties at key paths, collected from a record's JSON in one pass.
///
/// A property is `null` if it is missing, a list or a dictionary, or follows an error in the JSON. If a name occurs
/// twice, the first one counts.
struct IndexedProperties {
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

    /// Reads the values of the key paths, each split into names, and parses no more of the text than necessary.
    static func values(in json: [UInt8], at paths: [[[UInt8]]]) -> [IndexedValue] {
        var properties = Self(paths), reader = JSONReader(json)
        // Everything after an error is `null`.
        while properties.missing > 0, let token = try? reader.next() {
            if let key = reader.key { properties.enter(key) }
            properties.read(token, reader.text)
        }
        return properties.properties.map { $0.value ?? .null }
    }

    private init(_ paths: [[[UInt8]]]) {
        properties = paths.map { Property(path: $0) }
        missing = paths.count
    }

    private mutating func enter(_ key: String) {
        for index in properties.indices
        where properties[index].level == depth - 1 && properties[index].path.count >= depth {
            if key.utf8.elementsEqual(properties[index].path[depth - 1]) { properties[index].level = depth }
        }
    }

    private mutating func read(_ token: JSONReader.Token, _ text: ArraySlice<UInt8>) {
        switch token {
        case .array, .object:
            settle(.null) { [depth] property in token == .array || property.path.count == depth }
            depth += 1
        case .end:
            depth -= 1
            settle(.null) { _ in true }
        case .null: scalar(.null)
        case .bool(let value): scalar(.boolean(value))
        case .string(let text): scalar(.text(text))
        case .number:
            guard properties.contains(where: { isCurrent($0) }) else { return }
            let text = String(decoding: text, as: UTF8.self)
            scalar(Int64(text).map { .integer($0) } ?? Double(text).map { .number($0) } ?? .null)
        }
    }

    private mutating func scalar(_ value: IndexedValue) {
        settle(.null) { [depth] property in property.path.count != depth }
        settle(value) { _ in true }
    }

    /// Returns whether the value that begins or ends here is the target of a property's path, or an ancestor of it.
    private func isCurrent(_ property: Property) -> Bool { property.value == nil && property.level == depth }

    /// Sets the value of the properties whose path ends here.
    private mutating func settle(_ value: IndexedValue, _ isMeant: (_ property: Property) -> Bool) {
        for index in properties.indices where isCurrent(properties[index]) && isMeant(properties[index]) {
            properties[index].value = value
            missing -= 1
        }
    }
}

extension IndexedValue {
    /// Reads a single JSON value; returns `nil` if the text is not JSON, or is a list or a dictionary.
    package init?(json: [UInt8]) {
        let first = json.first { !Self.spaces.contains($0) }
        guard first != UInt8(ascii: "{"), first != UInt8(ascii: "["), JSONReader.isJSON(json) else { return nil }
        self = IndexedProperties.values(in: json, at: [[]])[0]
    }

    private static var spaces: [UInt8] { [0x20, 0x09, 0x0A, 0x0D] }
}
