extension String {
    /// The string with control characters escaped.
    ///
    /// Text from a manifest or a library then cannot start a line of its own, move the cursor or reverse the text.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isTroublesome) else { return self }
        return unicodeScalars.map {
            $0.isTroublesome ? "\\u{\(String($0.value, radix: 16, uppercase: true))}" : String($0)
        }.joined()
    }

    /// The string with control characters escaped except tabs, for lines of source code.
    package var printableWithTabs: String {
        split(separator: "\t", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\t")
    }
}

extension Unicode.Scalar {
    fileprivate var isTroublesome: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}
