/// A struct of the size that contracts commonly have: a number, a text too long for the string itself, a list.
public struct Parcel: Codable, Sendable, Hashable {
    public var id: Int
    public var title: String
    public var tags: [String]

    public init(id: Int, title: String, tags: [String]) {
        (self.id, self.title, self.tags) = (id, title, tags)
    }

    /// Number 0, with a title of 31 bytes.
    public static let first = Parcel(id: 0, title: String(repeating: "x", count: 31), tags: ["one", "two"])
}
