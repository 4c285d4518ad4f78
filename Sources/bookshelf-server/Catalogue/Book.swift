#if Engines
/// An author of a book, with the years of birth and death, if known.
struct Author: Codable, Hashable, Sendable {
    var name: String
    var born: Int?
    var died: Int?
}

/// A book of the catalogue.
struct Book: Codable, Hashable, Sendable {
    /// A stable identifier of lower-case letters, digits and hyphens.
    var id: String
    var title: String
    var authors: [Author]
    /// The language of the original as an ISO 639-1 code.
    var language: String
    /// The year of first publication.
    var year: Int
    var subjects: [String]
}
#endif
