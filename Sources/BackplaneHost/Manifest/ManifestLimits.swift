/// How large a manifest may be, so that a damaged or hostile one is an error and not an exhausted machine.
package enum ManifestLimits {
    package static let bytes = 16 << 20
    /// Dictionaries and arrays inside one another. The readers recurse, on threads with small stacks.
    package static let depth = 64
    package static let managers = 10_000
    /// Values in a property list: a binary one can name one value many times over and so unfold without end.
    package static let values = 1_000_000
}
