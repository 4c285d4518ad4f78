/// A receiver that builds the value of a JSON text within ``DocumentLimits``, and records requested positions.
struct JSONTree<Value: JSONTreeValue>: JSONReceiver {
    let subject: DocumentSubject
    /// The value, once the text has ended.
    private(set) var root = Value.null
    private var containers: [Container] = []
    private var valuesLeft = DocumentLimits.values
    /// The pointers whose positions are requested, with all their ancestors.
    private let wanted: Set<String>
    /// The start offsets of the requested values; the offset of a member is that of its key.
    private(set) var offsets: [String: Int] = [:]
    private(set) var ends: [String: Int] = [:]

    /// An array or object that is still open.
    private struct Container {
        let isObject: Bool
        /// The container's own path; `nil` if no value in it is requested.
        let path: DocumentPath?
        var elements: [Value] = []
        var members: [String: Value] = [:]
        /// The key of the current member.
        var key = ""
        var keyOffset = 0
    }

    init(of subject: DocumentSubject, wanted: Set<String>) {
        (self.subject, self.wanted) = (subject, wanted)
    }

    mutating func valueBegins(at offset: Int) throws(Mistake) {
        if let path = wantedPath {
            offsets[path.description] = containers.last.map { $0.isObject ? $0.keyOffset : offset } ?? offset
        }
        valuesLeft -= 1
        guard valuesLeft >= 0 else {
            throw Mistake(offset: offset, reason: DocumentLimits.tooManyValues(subject), kind: .unsupported)
        }
    }

    mutating func containerBegins(isObject: Bool, at offset: Int) throws(Mistake) {
        guard containers.count < DocumentLimits.depth else {
            throw Mistake(offset: offset, reason: DocumentLimits.tooDeep, kind: .unsupported)
        }
        containers.append(Container(isObject: isObject, path: wantedPath))
    }

    mutating func containerEnds(at end: Int) throws(Mistake) {
        let ended = containers.removeLast()
        try add(ended.isObject ? .object(ended.members) : .array(ended.elements), endingAt: end)
    }

    mutating func key(_ key: String, at offset: Int) {
        containers[containers.count - 1].key = key
        containers[containers.count - 1].keyOffset = offset
    }

    mutating func string(_ string: String, endingAt end: Int) throws(Mistake) {
        try add(.string(string), endingAt: end)
    }

    mutating func number(_ text: ArraySlice<UInt8>, isWhole: Bool) throws(Mistake) {
        let digits = String(decoding: text, as: UTF8.self)
        if isWhole, let integer = Int64(digits) { return try add(.integer(integer), endingAt: text.endIndex) }
        guard let number = Double(digits), number.isFinite else {
            throw Mistake(offset: text.startIndex, reason: "a number out of range")
        }
        try add(Value(canonical: number), endingAt: text.endIndex)
    }

    mutating func word(_ value: Bool?, endingAt end: Int) throws(Mistake) {
        try add(value.map(Value.bool) ?? .null, endingAt: end)
    }

    func halfOfPair(at offset: Int) throws(Mistake) {
        throw Mistake(offset: offset, reason: "half of a surrogate pair")
    }

    private mutating func add(_ value: Value, endingAt end: Int) throws(Mistake) {
        guard let innermost = containers.indices.last else { return root = value }
        if let path = wantedPath { ends[path.description] = end }
        guard containers[innermost].isObject else { return containers[innermost].elements.append(value) }
        let key = containers[innermost].key, offset = containers[innermost].keyOffset
        guard key.utf8.count <= DocumentLimits.key else {
            throw Mistake(offset: offset, reason: DocumentLimits.keyTooLong, kind: .unsupported)
        }
        guard containers[innermost].members.updateValue(value, forKey: key) == nil else {
            throw Mistake(offset: offset, reason: "the key `\(key)` is repeated")
        }
    }

    /// The path of the value that begins or ends here, if requested.
    private var wantedPath: DocumentPath? {
        if wanted.isEmpty { return nil }
        guard let container = containers.last else { return DocumentPath() }
        // The ancestors of everything requested are requested as well, so nothing is below a value that is not.
        guard let path = container.path.map({ container.isObject ? $0 / container.key : $0 / container.elements.count })
        else { return nil }
        return wanted.contains(path.description) ? path : nil
    }
}
