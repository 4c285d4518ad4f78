extension String {
    /// As a shell reads it as one word, in quotes where it needs them.
    var shellWord: String {
        let isPlain = !isEmpty && allSatisfy { $0.isLetter || $0.isNumber || "./_-+,:@%=".contains($0) }
        return isPlain ? self : "'" + printable.replacing("'", with: #"'\''"#) + "'"
    }
}
