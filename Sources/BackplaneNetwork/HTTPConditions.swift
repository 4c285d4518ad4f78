/// The evaluation of a request's conditions and range.
extension HTTPHeaders {
    /// Returns whether `If-None-Match` contains an entity tag, by a weak comparison (RFC 9110, section 13.1.2); `nil`
    /// without the field.
    package func ifNoneMatch(_ tag: String?) -> Bool? {
        let lists = values("If-None-Match")
        guard !lists.isEmpty else { return nil }
        let own = tag.flatMap { Self.entityTags($0).first }
        return lists.contains { Self.entityTags($0).contains { $0 == "*" || $0 == own } }
    }

    /// Returns the entity tags of a list, with their quotes and without the marks of weak ones; `*` is itself.
    private static func entityTags(_ list: String) -> [String] {
        var reader = FieldReader(list), tags: [String] = []
        while true {
            reader.take { $0.isBlank || $0 == UInt8(ascii: ",") }
            if reader.take("*") {
                tags.append("*")
                continue
            }
            reader.take { $0 == UInt8(ascii: "W") || $0 == UInt8(ascii: "/") }
            guard reader.take("\"") else {
                // Some servers forget the quotes.
                let bare = reader.take { $0 != UInt8(ascii: ",") }
                guard !bare.isEmpty else { return tags }
                tags.append(bare.trimmingBlanks)
                continue
            }
            let tag = reader.take { $0 != UInt8(ascii: "\"") }
            guard reader.take("\"") else { return tags }
            tags.append("\"\(tag)\"")
        }
    }

    /// Returns the part of a body that `Range` names (RFC 9110, section 14.2), empty if the body has no such part;
    /// `nil` if the field is missing, names no bytes, or names several parts.
    package func range(of size: Int64) -> Range<Int64>? {
        guard let text = self["Range"], text.lowercased().hasPrefix("bytes=") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { String($0) }
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty { return ends[1].wholeNumber.map { size - min($0, size)..<size } }
        guard let first = ends[0].wholeNumber, let last = ends[1].isEmpty ? .max : ends[1].wholeNumber, first <= last
        else { return nil }
        return min(first, size)..<max(min(first, size), min(last, size - 1) + 1)
    }
}
