import Backplane

extension Resolution.Draft {
    /// Warns of methods of the chosen classes that this host cannot call because their kind is unknown.
    mutating func warnOfUnknownKinds(of name: String) {
        for choice in choices[name] ?? [] {
            guard let entry = choice.entry else { continue }
            for method in entry.component.contract?.methods ?? [] where method.kind.word == nil {
                let words =
                    "\(entry) has the method `\(method.name)`, which is \(method.kind.adjective), so calls to that fail; it needs a newer host"
                report(.callUnimplemented, words, of: name, at: choice.definition.path, severity: .warning)
            }
        }
    }
}
