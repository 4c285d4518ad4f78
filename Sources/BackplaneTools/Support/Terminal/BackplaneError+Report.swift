import Backplane

extension BackplaneError {
    /// The error and its causes, one line each, indented.
    ///
    /// Control characters in quoted text are escaped, so that it cannot start a line of its own. The output of another
    /// program keeps its layout.
    package var reportLines: [String] {
        let details = (failure?.shownDetails ?? []).map { "\($0.key): \($0.value)".printable }
        return [description.printable.namingOptions]
            + (details + withoutSaid.causes.flatMap(\.reportLines)).map { "  " + $0 }
            + said.map(\.printableWithTabs)
    }
}
