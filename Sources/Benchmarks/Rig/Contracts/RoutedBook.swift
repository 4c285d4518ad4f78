/// The answer of the routes that are measured, as JSON of about 120 bytes.
public struct RoutedBook: Codable, Sendable {
    /// The number in the path of the request.
    public var id: Int
    /// The title.
    public var title = "Moby-Dick; or, The Whale"
    /// The author.
    public var author = "Herman Melville"
    /// The language, by its code.
    public var language = "en"
    /// The year of publication.
    public var year = 1851

    /// Creates the book with a number.
    public init(_ id: Int) { self.id = id }
}
