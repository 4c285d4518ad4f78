/// A book of the catalogue.
public struct Book: Codable, Sendable, Hashable {
    /// A stable word such as `moby-dick`.
    public var id: String
    public var title: String
    public var authors: [Author]
    /// Of its first publication.
    public var year: Int
    /// Of the original, ISO 639-1.
    public var language: String
    public var subjects: [String]

    public init(id: String, title: String, authors: [Author], year: Int, language: String, subjects: [String] = []) {
        (self.id, self.title, self.authors) = (id, title, authors)
        (self.year, self.language, self.subjects) = (year, language, subjects)
    }
}

/// Who wrote it; the years are only known to version 2 of the books' API.
public struct Author: Codable, Sendable, Hashable {
    public var name: String
    public var born: Int?
    public var died: Int?

    public init(name: String, born: Int? = nil, died: Int? = nil) {
        (self.name, self.born, self.died) = (name, born, died)
    }
}

/// What is searched for: every word must be in the title, the authors or the subjects.
public struct BookQuery: Codable, Sendable, Hashable {
    public var text: String

    public init(text: String) { self.text = text }
}
