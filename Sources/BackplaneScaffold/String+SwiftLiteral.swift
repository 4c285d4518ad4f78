import BackplaneTerminal

extension String {
    /// As Swift source has it, in quotes.
    package var swiftLiteral: String {
        let escaped = unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            default: String(scalar).printable
            }
        }
        return "\"\(escaped.joined())\""
    }
}
