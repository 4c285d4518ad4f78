/// The name of a method in a definition: an Objective-C selector, or a plain name.
///
/// | key | name | arguments |
/// |---|---|---|
/// | `searchWithZIPCode:completionBlock:` | `searchWithZIPCode` | 1 |
/// | `search:radius:completionBlock:progressBlock:` | `search`, labels `radius` | 2 |
/// | `allWithCompletionBlock:` | `all` | 0 |
/// | `search` | `search` | those that the indicators name |
struct MethodName: Sendable {
    /// A mistake in a key.
    struct Mistake: Error {
        var reason: String
    }
    /// The key as written.
    let key: String
    /// The name by which the method is called: the first part of a selector.
    let base: String
    /// The other parts of a selector, without the parts of its blocks.
    let labels: [String]
    /// The number of arguments; `nil` for a plain name.
    let count: Int?

    init(_ key: String) throws(Mistake) {
        guard !key.isEmpty else { throw Mistake(reason: "the name of a method is empty") }
        guard !key.unicodeScalars.contains(where: \.isSpaceOrControl) else {
            throw Mistake(reason: "the name of a method contains white space or a control character")
        }
        self.key = key
        guard key.utf8.contains(UInt8(ascii: ":")) else {
            (base, labels, count) = (key, [], nil)
            return
        }
        guard key.utf8.last == UInt8(ascii: ":") else {
            throw Mistake(reason: "`\(key)` is not a selector; each of its parts ends with a colon")
        }
        var parts = key.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).dropLast().map {
            String(Substring($0))
        }
        while parts.count > 1, Self.blocks.contains(parts[parts.count - 1]) { parts.removeLast() }
        var count = parts.count
        if count == 1, let name = Self.withoutBlock(parts[0]) {
            parts[0] = name
            count = 0
        }
        guard !parts[0].isEmpty else { throw Mistake(reason: "`\(key)` has no name before its first colon") }
        (base, labels, self.count) = (parts[0], Array(parts.dropFirst()), count)
    }

    /// The selector without the parts of its blocks.
    var selector: String {
        guard let count, count > 0 else { return base }
        return ([base] + labels).map { "\($0):" }.joined()
    }

    private static let blocks: Set = ["completionBlock", "progressBlock"]
    private static let endings = ["WithCompletionBlock", "WithProgressBlock"]

    /// Returns the name of a method whose only argument is a block; `nil` for any other method.
    private static func withoutBlock(_ part: String) -> String? {
        guard let ending = endings.first(where: { part.hasSuffix($0) }) else { return nil }
        return String(part.dropLast(ending.count))
    }
}

extension Unicode.Scalar {
    fileprivate var isSpaceOrControl: Bool {
        // The properties of Unicode are looked up in a table of ranges.
        isASCII ? value <= 0x20 || value == 0x7F : properties.isWhitespace
    }
}
