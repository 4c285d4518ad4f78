import Backplane
import BackplaneHost
import BackplaneTools
import BookshelfContracts

extension DemoCommand {
    /// Lists the version of the network service that each manager uses, and the versions to choose from.
    func showServices(_ composition: Composition) {
        let rows = composition.managerNames.flatMap { manager in
            composition.definitions(of: manager).filter { $0.role == .networkService }.map { service in
                let choice = VersionChoice(service, in: composition)
                return [
                    manager, service.className, service.range?.description ?? "any",
                    choice.entry?.component.version.description ?? "-",
                    choice.passedOver.map { "\($0.version), \($0.because)" }.joined(separator: "; "),
                ]
            }
        }
        show(["MANAGER", "NETWORK SERVICE", "ASKS FOR", "HAS", "PASSED OVER"], rows)
    }

    func list(_ books: Sourced<[Book]>) {
        let rows = books.value.map { book in
            [book.title.shortened(to: 60), book.authors.map(\.withYears).joined(separator: ", "), "\(book.year)"]
        }
        show(["TITLE", "AUTHORS", "YEAR"], rows)
        switch books.source {
        case .network: say("from: network")
        case .store(let age): say("from: store, kept \(Int(age / .milliseconds(1))) ms ago")
        }
    }

    private func show(_ header: [String], _ rows: [[String]]) {
        for line in Table(header, rows.map { $0.map { Span($0) } }).lines(colour: Terminal.wantsColour) { say(line) }
    }
}

extension Author {
    /// The name with the years of birth and death, if they are known.
    fileprivate var withYears: String {
        guard born != nil || died != nil else { return name }
        return "\(name) (\(born.map { "\($0)" } ?? "?")–\(died.map { "\($0)" } ?? ""))"
    }
}
