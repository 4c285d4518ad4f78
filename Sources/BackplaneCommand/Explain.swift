import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneDocuments
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "explain",
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
            do throws(BackplaneError) {
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
        // The first component already shows the location.
        return Tree(
            [Span(manager.printable, .heading), ": ", state.span] + (life?.spans(after: state) ?? [])
                + (components.isEmpty ? place.spans(in: file) : []), branches)
    }
}

extension Explanation.State {
    fileprivate var span: Span { Span(rawValue, self == .resolved ? .good : .bad) }
}

extension Explanation.Life {
    /// Returns the manager's state in a running host, if the state adds information.
    ///
    /// - Parameter resolution: The state that is printed before; "unsatisfied" is not repeated.
    fileprivate func spans(after resolution: Explanation.State?) -> [Span] {
        let style: Span.Style = state == "ready" ? .good : ["failed", "unsatisfied"].contains(state) ? .bad : .plain
        return state != resolution?.rawValue
            ? [", ", Span(state, style), Span(reason.map { ": " + $0.printable } ?? "")] : []
    }
}

extension Explanation.ExplainedComponent {
    fileprivate func tree(in file: String) -> Tree {
        let name = property.map { "\(role) `\($0)`: " } ?? "\(role): "
        let chosen: Span =
            component.map { "\(className) \($0.version) of plugin \($0.plugin)" } ?? Span(className, .bad)
        var branches = [Tree([Span((range.map { "\($0): " } ?? "any version: ") + why)])]
        branches += passedOver.map {
            Tree([Span("rejected: \($0.version) of plugin \($0.plugin), \($0.because)", .faint)])
        }
        if !sharedWith.isEmpty {
            branches.append(Tree([Span("shared with \(sharedWith.joined(separator: ", ").printable)")]))
        }
        if let streams = component?.streamLine { branches.append(Tree([Span(streams.printable)])) }
        for (title, list) in [("routes", component?.routes), ("screens", component?.screens)] {
            if let list { branches.append(Tree([Span(title)], list.map { Tree([Span($0.printable)]) })) }
        }
        branches += wires.map(\.tree)
        branches += unconnected.map { Tree([Span("\($0.printable): optional, not connected", .faint)]) }
        return Tree([Span(name.printable), chosen.printable] + place.spans(in: file), branches)
    }
}

extension Span {
    fileprivate var printable: Span { Span(text.printable, style) }
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

/// An explanation of a manager: its chosen classes and wires, or the reasons why it cannot be created.
struct Explanation: Codable, Sendable {
    enum State: String, Codable, Sendable {
        case resolved, unsatisfied
    }
    var manager: String
    var state: State
    /// The state of the manager in a running host, or `nil` if no host was queried.
    var life: Life?
    var place: ManifestPlace
    /// The components of the definition: the manager, its controllers and its services.
    var components: [ExplainedComponent]
    var uses: [Use]
    /// The reasons why the manager cannot be created, each with its causes.
    var reasons: [Reason]
    /// The non-fatal problems of the manager.
    var warnings: [Reason]
    /// The problems of the manifest as a whole, if the manager cannot be created; they may be the cause.
    var manifest: [Reason]

    /// The state of a manager in a running host.
    struct Life: Codable, Sendable {
        var state: String
        /// The reason why the manager is not ready.
        var reason: String?
    }

    /// A component of the manager's definition.
    struct ExplainedComponent: Codable, Sendable {
        var role: String
        /// The property of the communication controller that holds the service; `nil` for other roles.
        var property: String?
        var className: String
        /// The accepted versions, or `nil` for any.
        var range: String?
        /// The chosen component, or `nil` if none fits.
        var component: ListedComponent?
        var why: String
        var passedOver: [VersionChoice.PassedOver]
        /// The other managers that share the component.
        var sharedWith: [String]
        var wires: [WireRow]
        /// The labels of optional wires that are not connected.
        var unconnected: [String]
        var place: ManifestPlace
    }

    /// Another manager that this one uses.
    struct Use: Codable, Sendable {
        var label: String
        var manager: String
        /// The state of the other manager, or `nil` if it does not exist.
        var state: State?
        var life: Life?
        var place: ManifestPlace
    }

    /// An error or a warning, and its causes.
    struct Reason: Codable, Sendable {
        /// The manager concerned; `nil` for the manifest as a whole, and for the underlying causes of an error.
        var manager: String?
        var code: String
        var message: String
        var place: ManifestPlace
        var because: [Reason]
    }
}

extension Explanation {
    /// Creates the explanation of a manager from a composition.
    ///
    /// - Throws: `manager.unknown`, with similar names as suggestions.
    init(of manager: String, in composition: Composition) throws(BackplaneError) {
        let isSound = composition.plan.managers[manager] != nil
        guard isSound || composition.plan.faults[manager] != nil else { throw composition.unknownManager(manager) }
        let document = composition.document, definitions = document.definitions(of: manager),
            uses = composition.uses(of: manager)
        let location = composition.location(of: manager), locations = definitions.map(document.location)
        let positions = composition.positions(of: locations + uses.map(\.location) + [location])
        var reasons = Reasons(composition)

        (self.manager, state) = (manager, isSound ? .resolved : .unsatisfied)
        place = ManifestPlace(location, positions[location])
        components = zip(definitions, locations).map { definition, location in
            ExplainedComponent(definition, in: composition, at: ManifestPlace(location, positions[location]))
        }
        self.uses = uses.map { use in
            Use(
                label: use.label, manager: use.written, state: composition.state(of: use.manager),
                place: ManifestPlace(use.location, positions[use.location]))
        }
        self.reasons = reasons.of(manager, .error)
        warnings = reasons.of(manager, .warning)
        manifest = isSound ? [] : reasons.ofManifest()
    }
}

extension Composition {
    fileprivate func state(of manager: String) -> Explanation.State? {
        plan.managers[manager] != nil ? .resolved : plan.faults[manager] != nil ? .unsatisfied : nil
    }
}

extension Explanation.ExplainedComponent {
    fileprivate init(
        _ definition: PlacedDefinition, in composition: Composition, at place: ManifestPlace
    ) {
        let choice = VersionChoice(definition, in: composition), node = composition.node(at: definition.address)
        (role, property, className) = (
            definition.role.description, composition.document.shownProperty(of: definition),
            composition.document.shownClassName(of: definition)
        )
        (range, component) = (
            definition.range?.description,
            choice.entry.map { ListedComponent($0, usedBy: node?.managers ?? [definition.address.manager]) }
        )
        (why, passedOver, self.place) = (choice.why, choice.passedOver, place)
        sharedWith = node?.managers.filter { $0 != definition.address.manager } ?? []
        wires = composition.wires.filter { $0.user == node?.id }.map { WireRow($0.status) }
        let connected = Set(wires.map(\.label))
        unconnected =
            node == nil ? [] : choice.entry?.component.wires.map(\.label).filter { !connected.contains($0) } ?? []
    }
}

/// A search for the causes of problems.
struct Reasons {
    private let composition: Composition
    private let problems: [String?: [Problem]]
    /// The managers whose errors have been reported; each is reported once, no matter how many managers use it.
    private var told: Set<String> = []
    /// The maximum depth of a chain of causes; a chain of managers can be as long as the manifest.
    private static let longestChain = 32

    init(_ composition: Composition) {
        self.composition = composition
        problems = Dictionary(grouping: composition.problems, by: \.manager)
    }

    /// Returns the errors of the manifest as a whole.
    mutating func ofManifest() -> [Explanation.Reason] {
        problems(of: nil, .error).map { reason($0, of: nil, depth: 0) }
    }

    mutating func of(_ manager: String, _ severity: Problem.Severity) -> [Explanation.Reason] {
        told.insert(manager)
        return problems(of: manager, severity).map { reason($0, of: manager, depth: 0) }
    }

    private func problems(of manager: String?, _ severity: Problem.Severity) -> [Problem] {
        (problems[manager] ?? []).filter { $0.severity == severity }
    }

    private mutating func reason(_ problem: Problem, of manager: String?, depth: Int) -> Explanation.Reason {
        let error = problem.error
        var reason = Explanation.Reason(
            manager: manager, code: error.code.rawValue, message: error.message,
            place: ManifestPlace(error.location, problem.position), because: [])
        if error.code != .dependencyUnsatisfied {
            reason.because = error.causes.map(Self.cause)
        } else if depth < Self.longestChain,
            let used = manager.flatMap({ composition.uses(of: $0).first { $0.location == error.location } })?.manager,
            told.insert(used).inserted
        {
            reason.because = problems(of: used, .error).map { self.reason($0, of: used, depth: depth + 1) }
            // The causes below the error report the rest of the message.
            reason.message = "`\(used)` cannot be created"
        }
        return reason
    }

    private static func cause(_ error: BackplaneError) -> Explanation.Reason {
        Explanation.Reason(
            code: error.code.rawValue, message: error.message, place: ManifestPlace(error.location, nil),
            because: error.causes.map(cause))
    }
}
