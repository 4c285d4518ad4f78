/// The full-text settings of an index.
public struct TextIndexing: Sendable {
    /// The division of texts into words.
    public var tokenizer: TextTokenizer
    /// The prefix lengths to index; searches for other prefixes read more of the index.
    public var prefixes: [Int]

    /// Creates full-text settings, by default without indexed prefixes.
    public init(_ tokenizer: TextTokenizer = .unicode, prefixes: [Int] = []) {
        (self.tokenizer, self.prefixes) = (tokenizer, prefixes)
    }
}

/// The division of texts into words.
public enum TextTokenizer: String, Sendable {
    /// Words of letters and digits as Unicode defines them, regardless of case and of diacritics.
    case unicode
    /// English words, which other forms of the same word also match: `whale` finds `whales` and `whaling`.
    case english
    /// All substrings of three characters or more, regardless of case.
    case substrings
}
