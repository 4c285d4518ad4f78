import Backplane
import BackplaneScreens
import BookshelfContracts

/// A screen with the pages of the catalogue, or with the results of a search, which are updated during typing.
actor BookList: Screen {
    static let identifier = "catalogue.list"
    /// The state of the screen that a swap preserves.
    struct Position: Codable, Sendable {
        var words = ""
        var page = 1
    }
    private struct Books: Sendable {
        var books: [Book]
        var page = 1, pages = 1
        /// A Boolean value that indicates whether these are stored books, because the server could not be reached.
        var areKept = false
    }
    let title = "Catalogue"
    private(set) var position = Position()
    private let library: Wire<Library>
    private let agent: Agent
    private let loads: Loads
    private var books: LoadState<Books> { loads["books"] }

    private init(_ library: Wire<Library>, _ agent: Agent) {
        (self.library, self.agent, loads) = (library, agent, Loads(agent))
    }

    static func assemble(with input: Nothing, agent: Agent) async throws -> BookList {
        let list = BookList(try await agent.resolve(Library.self), agent)
        await list.load()
        return list
    }

    func resume(at position: Position) { show(position) }

    var body: [View] {
        Field(
            "Search", id: "search", value: position.words, prompt: "Title, author or subject", content: .search
        ).live()
        LoadOverlay(loads, "books") {
            if let books = books.value {
                Text(remark(on: books)).style(.secondary).id("remark")
                List(books.books, id: \.id) { book in
                    book.cover(from: library, loads, agent)
                    Column {
                        Link(book.title, to: BookPage.self, book)
                        Text(book.origin).style(.secondary)
                    }
                }.id("books")
                if books.pages > 1 {
                    Row {
                        Button("Previous", id: "previous").disabled(books.page == 1)
                        Button("Next", id: "next").disabled(books.page >= books.pages)
                    }.id("pages")
                }
            } else if case .idle = books {
                Button("Load the books", id: "reload")
            }
        }
    }

    func handle(_ event: ViewEvent) async throws {
        if try await loads.handle(event) { return }
        // Not the page of `position`, which differs from the page on screen if the last load failed.
        let page = books.value?.page ?? 1
        switch event.id {
        case "search": show(Position(words: event.value))
        case "previous": show(Position(page: page - 1))
        case "next": show(Position(page: page + 1))
        case "reload": load()
        default: break
        }
    }

    private func show(_ position: Position) {
        self.position = position
        load()
    }

    /// Loads the books at the position, and retries covers that could not be loaded; cancels an earlier search.
    private func load() {
        loads.start("books", replacing: true) { [library, agent, position, weak loads] in
            guard position.words.contains(where: { $0.isLetter || $0.isNumber }) else {
                let page = try await library.browse(position.page, agent.call)
                loads?.retry()
                return Books(books: page.books, page: position.page, pages: page.pages)
            }
            let found = try await library.search(BookQuery(text: position.words), agent.call)
            if found.source == .network { loads?.retry() }
            return Books(books: found.value, areKept: found.source != .network)
        }
    }

    private func remark(on books: Books) -> String {
        if books.books.isEmpty { return "No book has all these words." }
        if books.areKept { return "The server cannot be reached. These books were found before." }
        if books.pages > 1 { return "Page \(books.page) of \(books.pages)" }
        return books.books.count == 1 ? "1 book" : "\(books.books.count) books"
    }
}
