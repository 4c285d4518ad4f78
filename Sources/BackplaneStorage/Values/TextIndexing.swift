/// The way in which an index finds the words of texts.
public struct TextIndexing: Sendable {
    /// The division of texts into words.
    public var tokenizer: TextTokenizer
    /// The lengths of the beginnings of words that are indexed, too; searches for others read more of the index.
    public var prefixes: [Int]

    /// Creates the treatment of texts, by default without indexed beginnings.
    public init(_ tokenizer: TextTokenizer = .unicode, prefixes: [Int] = []) {
        (self.tokenizer, self.prefixes) = (tokenizer, prefixes)
    }
}

/// The division of texts into words.
public enum TextTokenizer: String, Sendable {
    /// Words of letters and digits as Unicode has them, regardless of case and of diacritics.
    case unicode
    /// English words, which are also found by other forms of them: `whale` finds `whales` and `whaling`.
    case english
    /// All texts of three characters or more within a text, regardless of case.
    case substrings
}
