extension String {
    /// As a shell reads it as one word, in quotes where it needs them.
    package var shellWord: String {
        guard isEmpty || !unicodeScalars.allSatisfy(\.isPlainInShell) else { return self }
        // A quote with a mark on it is one character, and ends the word all the same.
        return "'" + printable.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
    }
}

extension Unicode.Scalar {
    fileprivate var isPlainInShell: Bool {
        properties.isAlphabetic || properties.numericType != nil || "./_-+,:@%=".unicodeScalars.contains(self)
    }
}
