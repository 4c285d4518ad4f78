import Backplane
import BackplaneDocuments
import BackplaneHost

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
        /// The chosen version, or `nil` if no component fits.
        var version: String?
        var plugin: String?
        var why: String
        var passedOver: [PassedOver]
        /// The other managers that share the component.
        var sharedWith: [String]
        /// The streams of the contract that it provides; `nil` if it has none.
        var streams: [String]?
        /// The routes that it lists; `nil` if there are none.
        var routes: [String]?
        /// The screens that it lists; `nil` if there are none.
        var screens: [String]?
        var wires: [WireRow]
        /// The labels of optional wires that are not connected.
        var unconnected: [String]
        var place: ManifestPlace
    }

    /// A component of the same class that was not chosen.
    struct PassedOver: Codable, Sendable, Hashable {
        var version: String
        var plugin: String
        var because: String
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

/// A location in a manifest, with its line and column if known.
struct ManifestPlace: Codable, Sendable, Hashable {
    /// A JSON pointer, or the path of a file.
    var location: String?
    var line: Int?
    var column: Int?

    init(_ location: String?, _ position: SourcePosition?) {
        (self.location, line, column) = (location, position?.line, position?.column)
    }

    /// Returns the location as `file:line:column`, a format that editors recognise, or else the JSON pointer.
    func text(in manifest: String) -> String? {
        if let line, let column { return "\(manifest):\(line):\(column)" }
        return location
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
        (range, version, plugin) = (
            definition.range?.description, choice.entry?.component.version.description, choice.entry?.plugin
        )
        (why, passedOver, self.place) = (choice.why, choice.passedOver, place)
        sharedWith = node?.managers.filter { $0 != definition.address.manager } ?? []
        (streams, routes) = (choice.entry?.component.contract?.streams, choice.entry?.component.listedRoutes)
        screens = choice.entry?.component.listedScreens?.map(\.line)
        wires = node.map { composition.wires(of: $0.id).map(WireRow.init) } ?? []
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
            // The causes below it report the rest of the message.
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

/// The choice among the components of one class, and why the others were not chosen.
struct VersionChoice: Sendable {
    /// The chosen component, or `nil` if none fits.
    let entry: Catalogue.Entry?
    /// The reason for the choice, as a phrase.
    let why: String
    let passedOver: [Explanation.PassedOver]

    init(_ definition: PlacedDefinition, in composition: Composition) {
        let entry = composition.catalogue.entry(for: definition),
            all = composition.catalogue.entries(named: definition.className)
        self.entry = entry
        passedOver = all.filter { $0 != entry }.map { other in
            Explanation.PassedOver(
                version: other.component.version.description, plugin: other.plugin,
                because: Self.obstacle(other, definition, beside: entry))
        }
        let fitting = all.filter { Self.fits($0, definition) }
        why = Self.why(fitting.map(\.component.version), of: all.count)
    }

    private static func fits(_ entry: Catalogue.Entry, _ definition: PlacedDefinition) -> Bool {
        entry.component.role == definition.role && definition.range?.contains(entry.component.version) ?? true
    }

    /// Returns the reason for the choice.
    ///
    /// - Parameters:
    ///   - fitting: The versions that fit, highest first.
    ///   - count: The number of components of the class, whether they fit or not.
    private static func why(_ fitting: [Version], of count: Int) -> String {
        guard let best = fitting.first else { return count == 0 ? "no plugin registers it" : "none fits" }
        if fitting.count == 1 { return count == 1 ? "the only one" : "the only one that fits" }
        let equals = fitting.count { $0 == best }
        return "the highest of \(fitting.count) that fit"
            + (equals > 1 ? "; of \(equals) equal ones, the one of the earliest plugin" : "")
    }

    private static func obstacle(
        _ other: Catalogue.Entry, _ definition: PlacedDefinition, beside chosen: Catalogue.Entry?
    ) -> String {
        if other.component.role != definition.role { return "a \(other.component.role), not a \(definition.role)" }
        if let range = definition.range, !range.contains(other.component.version) { return "not in \(range)" }
        return other.component.version == chosen?.component.version ? "from a later plugin" : "a lower version"
    }
}

extension ContractDescription {
    /// The names of the streams, which are listed separately from other methods; `nil` if there are none.
    var streams: [String]? {
        let names = methods.filter(\.isStream).map(\.name)
        return names.isEmpty ? nil : names
    }
}
