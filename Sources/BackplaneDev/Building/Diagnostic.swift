/// What a compiler says of a place in a source file.
struct Diagnostic: Codable, Sendable, Hashable {
    /// `error`, `warning` or `note`.
    var severity: String
    /// From the root on; `nil`: it is about no file.
    var file: String?
    var line: Int?
    var column: Int?
    var message: String

    /// From the first line of it; `nil`: that is no such line.
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
