import Backplane
import BackplaneScreens
import BookshelfContracts

/// A screen with a book of the catalogue, which can be borrowed unless it is on loan.
actor BookPage: Screen {
    typealias Input = Book
    static let identifier = "catalogue.book"
    private let book: Book
    private let library: Wire<Library>
    private let agent: Agent
    private let loads: Loads
    private var loan: LoadState<Loan> { loads["borrow"] }
    private var isBorrowed: Bool {
        let loans: LoadState<[Loan]> = loads["loans"]
        return loans.value?.contains { $0.book == book.id } ?? false
    }

    private init(_ book: Book, _ library: Wire<Library>, _ agent: Agent) {
        (self.book, self.library, self.agent, loads) = (book, library, agent, Loads(agent))
    }

    static func assemble(with book: Book, agent: Agent) async throws -> BookPage {
        let library = try await agent.resolve(Library.self)
        let page = BookPage(book, library, agent)
        page.loads.follow("loans") { library.loans(CurrentLoans(), agent.call) }
        return page
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
        if isBorrowed {
            Text("You have borrowed this book.").id("borrowed")
        } else {
            LoadButton("Borrow", id: "borrow", loads)
            if let failure = loan.failure { Text(failure.reason).style(.critical).id("reason") }
        }
    }

    func handle(_ event: ViewEvent) {
        guard event.id == "borrow" else { return }
        loads.start("borrow") { [book, library, agent] in
            let loan = try await library.borrow(book.id, agent.call)
            // The loan is valid even if the next screen cannot be shown, which the window reports.
            try? await agent.performSegue(to: "loans.list")
            return loan
        }
    }
}
