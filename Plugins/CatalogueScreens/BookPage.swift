import Backplane
import BackplaneScreens
import BookshelfContracts

/// A book of the catalogue, which can be borrowed.
actor BookPage: Screen {
    typealias Input = Book
    static let identifier = "catalogue.book"
    private let book: Book
    private let library: Wire<Library>
    private let agent: Agent
    private let loads: Loads
    private var loan: LoadState<Loan> { loads["borrow"] }

    private init(_ book: Book, _ library: Wire<Library>, _ agent: Agent) {
        (self.book, self.library, self.agent, loads) = (book, library, agent, Loads(agent))
    }

    static func assemble(with book: Book, agent: Agent) async throws -> BookPage {
        BookPage(book, try await agent.resolve(Library.self), agent)
    }

    var title: String { book.title }

    var body: [View] {
        book.cover(from: library, loads, agent)
        Text(book.origin)
        if !book.subjects.isEmpty {
            Section("Subjects") {
                List(book.subjects, id: \.self) { Text($0) }
            }.id("subjects")
        }
        LoadButton("Borrow", id: "borrow", loads)
        if let failure = loan.failure { Text(failure.reason).style(.critical).id("reason") }
    }

    func handle(_ event: ViewEvent) {
        guard event.id == "borrow" else { return }
        loads.start("borrow") { [book, library, agent] in
            let loan = try await library.borrow(book.id, agent.call)
            try await agent.performSegue(to: "loans.list")
            return loan
        }
    }
}
