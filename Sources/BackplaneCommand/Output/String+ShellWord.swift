extension String {
    /// As a shell reads it as one word, in quotes where it needs them.
    var shellWord: String {
        let isPlain = !isEmpty && unicodeScalars.allSatisfy { $0.properties.isAlphabetic || $0.properties.numericType != nil || "./_-+,:@%=".unicodeScalars.contains($0) }
        return isPlain ? self : "'" + printable.replacing("'", with: #"'\''"#) + "'"
    }
}
