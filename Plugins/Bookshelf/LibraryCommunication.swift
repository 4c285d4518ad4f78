import Backplane
import BookshelfContracts

/// The communication controller of the library, which forwards requests to the books service in the manifest's version.
final class LibraryCommunication: CommunicationController {
    typealias Provides = LibraryNetwork
    struct Wires: Wiring {
        let books: Wire<BooksAPI>
    }
    private let wires: Wires

    init(_ context: Context) {
        wires = context.wires
    }

    static func methods(_ table: inout Methods) {
        table.async(\.find) { controller, query, call in try await controller.wires.books.search(query.text, call) }
        table.async(\.borrow) { controller, book, call in try await controller.wires.books.borrow(book, call) }
        table.async(\.giveBack) { controller, loan, call in try await controller.wires.books.giveBack(loan, call) }
        table.async(\.page) { controller, page, call in try await controller.wires.books.page(page, call) }
        table.async(\.browse) { controller, page, call in try await controller.wires.books.browse(page, call) }
        table.async(\.cover) { controller, book, call in try await controller.wires.books.cover(book, call) }
        table.stream(\.text) { controller, book, elements, call in
            try await elements.send(contentsOf: controller.wires.books.text(book, call))
        }
        table.stream(\.events) { controller, place, elements, call in
            try await elements.send(contentsOf: controller.wires.books.events(place, call))
        }
    }
}
