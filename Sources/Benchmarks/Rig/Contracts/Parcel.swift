/// A struct of a typical size for contracts: a number, a string too long to be stored inline, and a list.
public struct Parcel: Codable, Sendable, Hashable {
    /// The number that calls increment.
    public var id: Int
    /// A string that calls return unchanged.
    public var title: String
    /// A list that calls return unchanged.
    public var tags: [String]

    /// Creates a parcel.
    public init(id: Int, title: String, tags: [String]) {
        (self.id, self.title, self.tags) = (id, title, tags)
    }

    /// A parcel with number 0 and a title of 31 bytes.
    public static let first = Parcel(id: 0, title: String(repeating: "x", count: 31), tags: ["one", "two"])
}
