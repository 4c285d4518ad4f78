/// Lines for the user to paste into an existing source file, and their position.
struct Paste: Sendable, Hashable {
    /// The path relative to the root of the package.
    var file: String
    /// The list or function body to which the lines are added, at its beginning.
    var place: String
    /// The target or type that contains it, or `nil` for the package itself.
    var owner: String?
    var lines: [String]

    /// The instruction to print above the lines.
    var instruction: String {
        "paste into \(file), at the top of `\(place)`\(owner.map { " of `\($0)`" } ?? ""):"
    }
}

extension Paste: Encodable {
    private enum CodingKeys: String, CodingKey { case file, place, owner = "of", lines }
}
