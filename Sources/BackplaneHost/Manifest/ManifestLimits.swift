/// How large a manifest may be, so that a damaged or hostile one is an error and not an exhausted machine.
package enum ManifestLimits {
    package static let bytes = 16 << 20
    /// Dictionaries and arrays inside one another. The readers recurse, on threads with small stacks.
    package static let depth = 64
    package static let managers = 10_000
    /// Values inside one another and beside one another. A binary property list can name one value many times over and so unfold without end.
    package static let values = 1_000_000

    /// Of a key in bytes: keys stand in every place below them.
    package static let key = 1_024

    package static let environments = 100

    static let keyTooLong = "a key of more than \(key) bytes"
    static let tooDeep = "nested deeper than \(depth) levels"
    static let tooManyValues = "the manifest has more than \(values) values"
    static let tooLarge = "the manifest is larger than \(bytes >> 20) MB"
}
