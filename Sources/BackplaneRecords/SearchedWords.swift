package import Backplane
import BackplaneDocuments
package import BackplaneStorage

/// The words of a search, which every engine interprets in the same way.
///
/// Words are separated by white space. A word that ends with `*` matches all words with that beginning. Words between
/// quotation marks match only in sequence. Other punctuation has no meaning.
package struct SearchedWords {
    /// A word, or several words in sequence.
    package struct Phrase: Equatable {
        package var text: String
        /// A Boolean value that indicates whether the last word is a prefix.
        package var isPrefix: Bool
    }
    /// The phrases, all of which must match; at least one.
    package let phrases: [Phrase]

    /// Reads the words of a search.
    ///
    /// - Throws: `call.invalid-input` for a text that is too long or has no letter or digit, or if the cursor belongs
    ///   to another query.
    package init(_ text: String, _ query: RecordQuery) throws(BackplaneError) {
        guard text.utf8.count <= RecordLimits.search else {
            throw BackplaneError(
                .callInvalidInput,
                "expected at most \(RecordLimits.search) bytes of words to search for, found \(text.utf8.count)",
                at: query.collection)
        }
        guard query.after == nil || query.after?.searchPlace != nil else { throw .foreignCursor(query) }
        phrases = Self.phrases(of: text)
        guard !phrases.isEmpty else {
            throw BackplaneError(
                .callInvalidInput, "expected a word to search for, found \(RecordLimits.shortened(text))",
                at: query.collection)
        }
    }

    private static func phrases(of text: String) -> [Phrase] {
        // By scalars, because a mark with a combining mark is a different character in Swift, but the same mark in
        // SQLite.
        var phrases: [Phrase] = [], current = String.UnicodeScalarView(), isQuoted = false, isClosed = false
        func end() {
            let isPrefix = current.last == "*"
            if isPrefix { current.removeLast() }
            // A zero would end the text in SQLite.
            let words = String(current).replacing("\0", with: " ")
            if words.contains(where: { $0.isLetter || $0.isNumber || !$0.isASCII }) {
                phrases.append(Phrase(text: words, isPrefix: isPrefix))
            }
            current = .init()
        }
        for scalar in text.unicodeScalars {
            if isClosed {
                // After the closing mark, only a star still belongs to the words.
                isClosed = false
                if scalar == "*" { current.append(scalar) }
                end()
                if scalar == "*" { continue }
            }
            if scalar == "\"" {
                if isQuoted { isClosed = true } else { end() }
                isQuoted.toggle()
            } else if scalar.properties.isWhitespace && !isQuoted {
                end()
            } else {
                current.append(scalar)
            }
        }
        end()
        return phrases
    }
}

/// A namespace for reading the strings that are searched from a record's JSON.
package enum TextProperties {
    /// Returns a string for each of the key paths, which are split into names; the strings of a list are on separate
    /// lines.
    ///
    /// Everything after an error in the JSON is omitted, as are zero bytes in the strings, which would terminate them
    /// in SQLite.
    package static func texts(in json: [UInt8], at paths: [[[UInt8]]]) -> [String] {
        var reader = JSONReader(json), texts: [[String]] = paths.map { _ in [] }
        // The keys of the open dictionaries, which form the path of the current value; lists add none.
        var keys: [[UInt8]] = [], areObjects: [Bool] = []
        while let token = try? reader.next() {
            if let key = reader.key { keys[keys.count - 1] = Array(key.utf8) }
            switch token {
            case .array: areObjects.append(false)
            case .object:
                areObjects.append(true)
                keys.append([])
            case .end: if areObjects.removeLast() { keys.removeLast() }
            case .string(let text): for index in paths.indices where paths[index] == keys { texts[index].append(text) }
            case .null, .bool, .number: break
            }
        }
        return texts.map { $0.joined(separator: "\n").replacing("\0", with: " ") }
    }
}
