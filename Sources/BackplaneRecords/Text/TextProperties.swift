import BackplaneDocuments

/// A namespace for reading the strings that are searched from a record's JSON.
package enum TextProperties {
    /// Returns a string for each of the key paths, which are split into names; the strings of a list are on separate
    /// lines.
    ///
    /// Everything after an error in the JSON is omitted, as are zero bytes in the strings, which would terminate them
    /// in SQLite.
    package static func texts(in json: [UInt8], at paths: [[[UInt8]]]) -> [String] {
        var reader = JSONReader(json), texts: [[String]] = paths.map { _ in [] }
        // The keys of the open dictionaries, which form the path of the current value; lists add none.
        var keys: [[UInt8]] = [], areObjects: [Bool] = []
        while let token = try? reader.next() {
            if let key = reader.key { keys[keys.count - 1] = Array(key.utf8) }
            switch token {
            case .array: areObjects.append(false)
            case .object:
                areObjects.append(true)
                keys.append([])
            case .end: if areObjects.removeLast() { keys.removeLast() }
            case .string(let text): for index in paths.indices where paths[index] == keys { texts[index].append(text) }
            case .null, .bool, .number: break
            }
        }
        return texts.map { $0.joined(separator: "\n").replacing("\0", with: " ") }
    }
}
