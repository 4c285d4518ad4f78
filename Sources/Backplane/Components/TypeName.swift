/// Returns the name of a type as declared.
///
/// `String(describing:)` looks up conformances, and after a library has been loaded, Swift's runtime searches every
/// loaded image for each of them. A plugin has many names.
func typeName(of type: Any.Type) -> String {
    withoutPrivateMarks(_typeName(type, qualified: false))
}

/// Removes the markers of private types, which optimised code names `(Name in _0123456789ABCDEF)` after their file.
func withoutPrivateMarks(_ name: String) -> String {
    var (rest, plain) = (name[...], "")
    while let start = rest.firstIndex(of: "("), let end = rest[start...].firstIndex(of: ")") {
        let words = rest[rest.index(after: start)..<end].split(separator: " ")
        let isMark = words.count == 3 && words[1] == "in" && words[2].hasPrefix("_")
        plain += isMark ? rest[..<start] + words[0] : rest[...end]
        rest = rest[rest.index(after: end)...]
    }
    return plain + rest
}
