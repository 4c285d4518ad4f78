/// Lines for a source of somebody's own, and the place in it where they belong.
struct Paste: Sendable, Hashable {
    /// From the top of the package.
    var file: String
    /// A list in brackets or a function's body, which the lines are to begin.
    var place: String
    /// The target or the type that has the place; `nil`: the package.
    var owner: String?
    var lines: [String]

    /// What a person does with the lines that are printed below this.
    var instruction: String {
        "paste into \(file), at the top of `\(place)`\(owner.map { " of `\($0)`" } ?? ""):"
    }
}

extension Paste: Encodable {
    private enum CodingKeys: String, CodingKey { case file, place, owner = "of", lines }
}
