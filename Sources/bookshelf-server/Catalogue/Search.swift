#if Engines
import Foundation

/// The words that a reader looks for.
struct SearchQuery: Hashable, Sendable {
    let words: [String]

    /// `nil` when there is no word in `text`.
    init?(_ text: String) {
        words = SearchText.words(of: text)
        if words.isEmpty { return nil }
    }
}

/// What of a book is searched: its title, its authors and its subjects, without case and diacritics.
struct SearchText: Hashable, Sendable {
    private let text: String

    init(_ book: Book) {
        text = Self.words(of: ([book.title] + book.authors.map(\.name) + book.subjects).joined(separator: " ")).joined(separator: " ")
    }

    /// Every word has to be in the text; a part of a longer word will do.
    func matches(_ query: SearchQuery) -> Bool {
        query.words.allSatisfy(text.contains)
    }

    /// Letters and digits between anything else; an apostrophe is left out, so that "dont" finds "Don't".
    static func words(of text: String) -> [String] {
        folded(text.filter { !"'’".contains($0) }).split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    /// "Ødegård" becomes "odegard": letters without a decomposition are spelled as readers without them would.
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
