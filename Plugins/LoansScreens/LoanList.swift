import Backplane
import BackplaneScreens
import BookshelfContracts
import FoundationEssentials

/// A screen with the books on loan, which follows every change.
actor LoanList: Screen {
    static let identifier = "loans.list"
    let title = "Loans"
    private let library: Wire<Library>
    private let agent: Agent
    private let loads: Loads
    private var loans: LoadState<[Loan]> { loads["loans"] }

    private init(_ library: Wire<Library>, _ agent: Agent) {
        (self.library, self.agent, loads) = (library, agent, Loads(agent))
    }

    static func assemble(with input: Nothing, agent: Agent) async throws -> LoanList {
        let library = try await agent.resolve(Library.self)
        let list = LoanList(library, agent)
        list.loads.follow("loans") { library.loans(CurrentLoans(), agent.call) }
        return list
    }

    var body: [View] {
        LoadOverlay(loads, "loans") {
            if let loans = loans.value {
                if loans.isEmpty { Text("No book is on loan.").id("none") }
                List(loans, id: \.id) { loan in
                    Text(bookTitle(of: loan))
                    Text(loan.term).style(loan.isUrgent ? .critical : .secondary)
                    Button("Return", id: "return")
                }.id("loans")
            }
        }
    }

    func handle(_ event: ViewEvent) async throws {
        if try await loads.handle(event) { return }
        guard event.id == "return", let loan = loans.value?.first(where: { $0.id == event.row }) else { return }
        let question = LoanReturn.Input(loan: loan.id, title: bookTitle(of: loan))
        try await agent.performSegue(to: LoanReturn.self, data: question)
    }

    /// Returns the title of a lent book, or the identifier until the title is known.
    private func bookTitle(of loan: Loan) -> String {
        let title: LoadState<String> = loads.lazily("title of \(loan.book)") { [library, agent] in
            // An identifier consists of words of the title.
            let words = loan.book.replacing("-", with: " ")
            let found = try await library.search(BookQuery(text: words), agent.call)
            return found.value.first { $0.id == loan.book }?.title ?? loan.book
        }
        return title.value ?? loan.book
    }
}

extension Loan {
    /// The time that is left, such as `due in 14 days`.
    fileprivate var term: String {
        switch daysLeft {
        case nil: "due on \(due.formatted(.iso8601.year().month().day()))"
        case 0: "due today"
        case 1: "due tomorrow"
        case let days? where days < 0: "overdue since \(due.formatted(.iso8601.year().month().day()))"
        case let days?: "due in \(days) days"
        }
    }

    fileprivate var isUrgent: Bool { daysLeft.map { $0 <= 1 } ?? false }
}
