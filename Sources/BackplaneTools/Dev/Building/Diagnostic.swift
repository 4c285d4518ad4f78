/// A compiler diagnostic.
struct Diagnostic: Codable, Sendable, Hashable {
    /// The severity: `error`, `warning` or `note`.
    var severity: String
    /// The absolute path of the source file, or `nil` if the diagnostic concerns none.
    var file: String?
    var line: Int?
    var column: Int?
    var message: String

    /// Parses the first line of a diagnostic; returns `nil` for any other line.
    init?(_ text: String) {
        if let match = text.wholeMatch(of: /(\/.*?):(\d+):(\d+): (error|warning|note): (.*)/) {
            (file, line, column) = (String(match.1), Int(match.2), Int(match.3))
            (severity, message) = (String(match.4), String(match.5))
        } else if let match = text.wholeMatch(of: /(?:<unknown>:0: )?(error|warning): (.*)/) {
            (severity, message) = (String(match.1), String(match.2))
        } else {
            return nil
        }
    }
}
