extension String {
    /// The string as one word of a shell command, in quotes if it needs them.
    package var shellWord: String {
        guard isEmpty || !unicodeScalars.allSatisfy(\.isPlainInShell) else { return self }
        // A quote with a combining mark is one character, but still ends the word: hence scalars.
        return "'" + printable.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
    }
}

extension Unicode.Scalar {
    fileprivate var isPlainInShell: Bool {
        properties.isAlphabetic || properties.numericType != nil || "./_-+,:@%=".unicodeScalars.contains(self)
    }
}
