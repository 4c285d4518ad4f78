/// The name of a type as it is declared.
///
/// Not `String(describing:)`, which looks for conformances: after a library was loaded Swift's runtime searches all that is loaded for
/// each of them, and a plugin has many names.
func typeName(of type: Any.Type) -> String {
    withoutPrivateMarks(_typeName(type, qualified: false))
}

/// In optimised code a private type is called `(Name in _0123456789ABCDEF)`, by the file that it is private in.
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
