import Backplane
import BackplaneScreens
import BookshelfContracts

/// A screen that asks whether to return a book.
actor LoanReturn: Screen {
    static let identifier = "loans.return"
    struct Input: Codable, Sendable {
        /// The identifier of the loan.
        var loan: String
        /// The title of the book.
        var title: String
    }
    let title = "Return a book"
    private let input: Input
    private let library: Wire<Library>
    private let agent: Agent
    private let loads: Loads

    private init(_ input: Input, _ library: Wire<Library>, _ agent: Agent) {
        (self.input, self.library, self.agent, loads) = (input, library, agent, Loads(agent))
    }

    static func assemble(with input: Input, agent: Agent) async throws -> LoanReturn {
        LoanReturn(input, try await agent.resolve(Library.self), agent)
    }

    var body: [View] {
        LoadOverlay(loads) {
            Text("Return “\(input.title)” to the library?")
            Row {
                Button("Return it", id: "return").style(.strong)
                Button("Keep it", id: "keep")
            }
        }
    }

    func handle(_ event: ViewEvent) async throws {
        if try await loads.handle(event, onCancel: { try await agent.dismiss() }) { return }
        switch event.id {
        case "return":
            loads.start("return") { [input, library, agent] in
                _ = try await library.giveBack(input.loan, agent.call)
                // The book has been returned even if the screen cannot be dismissed, which the window reports.
                try? await agent.dismiss()
            }
        case "keep": try await agent.dismiss()
        default: break
        }
    }
}
