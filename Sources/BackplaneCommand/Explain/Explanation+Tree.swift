import BackplaneTerminal

extension Explanation {
    /// Returns the explanation as a tree for the terminal.
    ///
    /// - Parameter file: The path of the manifest.
    func tree(in file: String) -> Tree {
        var branches: [Tree] = []
        if !reasons.isEmpty {
            branches.append(Tree([Span("why not", .bad)], reasons.map { $0.tree(in: file, under: manager) }))
        }
        if !manifest.isEmpty {
            branches.append(
                Tree(
                    [Span("other problems, which may be the cause", .bad)],
                    manifest.map { $0.tree(in: file, under: nil) }))
        }
        branches += components.map { $0.tree(in: file) }
        if !uses.isEmpty { branches.append(Tree(["uses"], uses.map { $0.tree(in: file) })) }
        if !warnings.isEmpty {
            branches.append(Tree([Span("warnings", .doubtful)], warnings.map { $0.tree(in: file, under: manager) }))
        }
        // The location is that of the first component, which shows it.
        return Tree(
            [Span(manager.printable, .heading), ": ", state.span] + (life?.spans(after: state) ?? [])
                + (components.isEmpty ? place.spans(in: file) : []), branches)
    }
}

extension Explanation.State {
    fileprivate var span: Span { Span(rawValue, self == .resolved ? .good : .bad) }
}

extension Explanation.Life {
    /// Returns the manager's state in a running host, if it adds information.
    ///
    /// - Parameter resolution: The state printed before it; "unsatisfied" is not repeated.
    fileprivate func spans(after resolution: Explanation.State?) -> [Span] {
        let style: Span.Style = state == "ready" ? .good : ["failed", "unsatisfied"].contains(state) ? .bad : .plain
        return state != resolution?.rawValue
            ? [", ", Span(state, style), Span(reason.map { ": " + $0.printable } ?? "")] : []
    }
}

extension ManifestPlace {
    fileprivate func spans(in file: String) -> [Span] {
        text(in: file).map { [Span("  " + $0.printable, .faint)] } ?? []
    }
}

extension Explanation.ExplainedComponent {
    fileprivate func tree(in file: String) -> Tree {
        let name = property.map { "\(role) `\($0)`: " } ?? "\(role): "
        let chosen: Span = version.map { "\(className) \($0) of plugin \(plugin ?? "")" } ?? Span(className, .bad)
        var branches = [Tree([Span((range.map { "\($0): " } ?? "any version: ") + why)])]
        branches += passedOver.map {
            Tree([Span("rejected: \($0.version) of plugin \($0.plugin), \($0.because)", .faint)])
        }
        if !sharedWith.isEmpty {
            branches.append(Tree([Span("shared with \(sharedWith.joined(separator: ", ").printable)")]))
        }
        if let streams { branches.append(Tree([Span("streams: \(streams.joined(separator: ", "))".printable)])) }
        branches += wires.map(\.tree)
        branches += unconnected.map { Tree([Span("\($0.printable): optional, not connected", .faint)]) }
        return Tree([Span(name.printable), chosen.printable] + place.spans(in: file), branches)
    }
}

extension Span {
    fileprivate var printable: Span { Span(text.printable, style) }
}

extension WireRow {
    fileprivate var tree: Tree {
        let way = Span(lane, reason == nil ? .good : .doubtful)
        return Tree([
            Span("\(label) → \(provider): \(contract) \(version), ".printable), way,
            Span(reason.map { ": " + $0.printable } ?? ""),
        ])
    }
}

extension Explanation.Use {
    fileprivate func tree(in file: String) -> Tree {
        Tree(
            [Span("\(label): \(manager), ".printable), state?.span ?? Span("not there", .bad)]
                + (life?.spans(after: state) ?? []) + place.spans(in: file))
    }
}

extension Explanation.Reason {
    /// Returns the reason with its causes.
    ///
    /// - Parameter above: The manager under which the reason is printed.
    fileprivate func tree(in file: String, under above: String?) -> Tree {
        let subject = manager.flatMap { $0 == above ? nil : "\($0.printable): " } ?? ""
        let place = place.text(in: file).map { $0.printable + ": " } ?? ""
        return Tree(
            [Span(place, .faint), Span(subject + message.printable), Span(" [\(code)]", .faint)],
            because.map { $0.tree(in: file, under: manager) })
    }
}
