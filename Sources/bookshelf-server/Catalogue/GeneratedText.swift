#if Engines
/// The text of a book, generated from its metadata; deterministic for each book.
struct GeneratedText {
    var book: Book

    /// The number of chapters, each of about a hundred bytes.
    private static let chapters = 2_000

    /// The text in UTF-8.
    var bytes: [UInt8] {
        let names = book.authors.map(\.name).joined(separator: ", ")
        var text = "\(book.title)\nby \(names)\n"
        for chapter in 1...Self.chapters {
            text +=
                "\nChapter \(chapter)\nThis is chapter \(chapter) of \(book.title), which \(names) wrote in \(book.year).\n"
        }
        return Array(text.utf8)
    }
}
#endif
