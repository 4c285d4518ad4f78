import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Explain which classes were chosen for a manager, or why it cannot be created.",
            usage: "backplane explain [<options>] [<manifest>] <name>",
            discussion: """
                Prints a tree: the plugin and version chosen for the manager and for each of its collaborators, the \
                versions that were rejected, the components that are shared, and the lane of every wire. For a manager \
                that cannot be created, the tree ends with the cause. Nothing is started.

                The first argument is the manifest if it names an existing file, contains a slash, or ends in .json or \
                .plist. Otherwise it is the manager, and the manifest is \(ManifestChoice.text).

                EXAMPLES
                  backplane explain manifests/bookshelf-both.json LibraryManager
                  backplane explain LibraryManager --json
                  backplane explain LibraryManager --running
                """)

        @OptionGroup var host: HostArguments
        @OptionGroup var running: RunningArguments
        @Argument(help: ArgumentHelp("The manifest (optional) and the manager's name in it.", valueName: "word"))
        var words: [String] = []
        @Flag(help: "Print the reasons as JSON.") var json = false

        func validate() throws { _ = try given() }

        private func given() throws -> (manifest: String?, manager: String) {
            let (manifest, names) = ManifestChoice.split(words)
            guard let manager = names.first else { throw ValidationError("NAME is missing") }
            if let second = names.dropFirst().first { throw ValidationError("unexpected argument `\(second)`") }
            return (manifest, manager)
        }

        func run() async throws {
            let (manifest, manager) = try given(), (settings, host) = try running.choice(manifest, host.settings)
            if let host {
                let code = host.ask(ExplainRequest(manager: manager)) { explanation, host in
                    report(explanation, in: host.greeting?.manifest ?? "")
                    return 0
                }
                throw ExitCode(code)
            }
            let composition = await settings.compose()
            do {
                report(try Explanation(of: manager, in: composition), in: settings.manifest)
            } catch {
                throw ExitCode(composition.isEmpty ? settings.fail(composition) : Output.fail(error))
            }
        }

        private func report(_ explanation: Explanation, in manifest: String) {
            if json { Output.json(explanation) } else { Output.tree(explanation.tree(in: manifest)) }
        }
    }
}

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
        if let routes { branches.append(Tree(["routes"], routes.map { Tree([Span($0.printable)]) })) }
        if let screens { branches.append(Tree(["screens"], screens.map { Tree([Span($0.printable)]) })) }
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
