import Backplane
import BackplaneDefinitions
import BookshelfContracts
import FoundationEssentials

/// The serializer of responses in which a book's authors are a single string.
final class FlatBookSerializer: Manager {
    typealias Provides = Serializing

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.serialize) { _, response, _ in
            let books = try JSONDecoder().decode([FlatBook].self, from: response.body)
            return try JSONEncoder().encode(books.map(\.book))
        }
    }
}
