/// Tuples, which have no declaration: their metadata contains the elements.
extension TypeMetadata {
    /// The elements with their labels; `nil` if the labels are malformed.
    ///
    /// - Precondition: The type is a tuple.
    var elements: [(label: String?, type: Any.Type)]? {
        let count = (address + 8).load(as: Int.self)
        guard (0...FieldDescriptor.limit).contains(count) else { return nil }
        var labels = [String?](repeating: nil, count: count)
        if let text = (address + 16).load(as: UnsafePointer<UInt8>?.self) {
            guard let found = Self.labels(in: text, count: count) else { return nil }
            labels = found
        }
        return labels.indices.map { (labels[$0], (address + 24 + 16 * $0).load(as: Any.Type.self)) }
    }

    /// Splits the text of a tuple's labels; `nil` if their number is wrong.
    ///
    /// Every label ends with a space, and an element without one has an empty label.
    private static func labels(in text: UnsafePointer<UInt8>, count: Int) -> [String?]? {
        let labels = String(cString: text).split(separator: " ", omittingEmptySubsequences: false)
        guard labels.count == count + 1, labels[count].isEmpty else { return nil }
        return labels.prefix(count).map { $0.isEmpty ? nil : String($0).identifier }
    }
}
