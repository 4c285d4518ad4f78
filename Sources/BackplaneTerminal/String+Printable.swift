extension String {
    /// With control characters spelled out: what a manifest or a library says begins no line of its own, moves no cursor and turns no
    /// text around.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isTroublesome) else { return self }
        return unicodeScalars.map { $0.isTroublesome ? "\\u{\(String($0.value, radix: 16, uppercase: true))}" : String($0) }.joined()
    }

    /// The same of a line of source, whose tabs stay.
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
