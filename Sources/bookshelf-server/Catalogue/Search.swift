#if Engines
import Foundation

/// The words of a search.
struct SearchQuery: Hashable, Sendable {
    let words: [String]

    /// Creates a query from a string, or returns `nil` if the string contains no word.
    init?(_ text: String) {
        words = SearchText.words(of: text)
        if words.isEmpty { return nil }
    }
}

/// The searchable text of a book: title, authors and subjects, without case and diacritics.
struct SearchText: Hashable, Sendable {
    private let text: String

    init(_ book: Book) {
        text = Self.words(of: ([book.title] + book.authors.map(\.name) + book.subjects).joined(separator: " ")).joined(
            separator: " ")
    }

    /// Returns whether the text contains every word of a query, including as part of a longer word.
    func matches(_ query: SearchQuery) -> Bool {
        query.words.allSatisfy(text.contains)
    }

    /// Splits a string into words of letters and digits; drops apostrophes, so that "dont" finds "Don't".
    static func words(of text: String) -> [String] {
        folded(text.filter { !"'’".contains($0) }).split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    /// Returns a string in lower case and without diacritics, so that "Ødegård" becomes "odegard".
    ///
    /// Letters without a Unicode decomposition, such as "ø", are replaced by their usual ASCII spellings.
    static func folded(_ text: String) -> String {
        let plain = text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
        guard plain.unicodeScalars.contains(where: { !$0.isASCII }) else { return plain }
        return plain.reduce(into: "") { $0 += spellings[$1] ?? String($1) }
    }

    private static let spellings: [Character: String] = [
        "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ß": "ss", "ı": "i",
    ]
}
#endif
