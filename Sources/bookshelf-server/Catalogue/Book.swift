#if Engines
/// Who wrote a book, with the years that are known.
struct Author: Codable, Hashable, Sendable {
    var name: String
    var born: Int?
    var died: Int?
}

/// Facts about one work.
struct Book: Codable, Hashable, Sendable {
    /// Lower-case letters, digits and hyphens; never changes.
    var id: String
    var title: String
    var authors: [Author]
    /// Of the original, as ISO 639-1 writes it.
    var language: String
    /// Of the first publication.
    var year: Int
    var subjects: [String]
}
#endif
