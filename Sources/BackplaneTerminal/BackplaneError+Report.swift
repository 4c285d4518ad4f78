import Backplane

extension BackplaneError {
    /// The error and everything it came from, a line each, indented; nothing of what it quotes begins a line of its own. What another program
    /// has said stands there as that has laid it out.
    package var reportLines: [String] {
        let details = (failure?.details ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)".printable }
        return [description.printable] + (details + withoutSaid.causes.flatMap(\.reportLines)).map { "  " + $0 } + said.map(\.printableWithTabs)
    }
}
