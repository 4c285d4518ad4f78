import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTools

// `graph`, `explain`, `services` and `names` render one model: the `Composition` of a manifest and its plugins, with
// the rows in this file for its components, its wires and the places in the manifest.

/// A registered component class and the managers that use it.
struct ListedComponent: Codable, Sendable, Hashable {
    var role: String
    var className: String
    var version: String
    var plugin: String
    /// The contract that it provides; `nil` for none.
    var contract: String?
    var contractVersion: String?
    /// The streams of the contract; `nil` if it has none.
    var streams: [String]?
    /// The routes that it lists; `nil` if there are none.
    var routes: [String]?
    /// The screens that it lists, each with the shape of its input; `nil` if there are none.
    var screens: [String]?
    /// The managers whose definitions contain the component.
    var usedBy: [String]

    init(_ entry: Catalogue.Entry, usedBy: [String]) {
        let component = entry.component, contract = component.contract
        (role, className, version) = (component.role.description, component.className, component.version.description)
        (plugin, self.usedBy) = (entry.plugin, usedBy)
        (self.contract, contractVersion) = (contract?.name, contract?.version.description)
        (routes, screens) = (component.listedRoutes, component.listedScreens?.map(\.line))
        let names = contract?.methods.filter(\.isStream).map(\.name) ?? []
        streams = names.isEmpty ? nil : names
    }

    /// The routes and the screens, which are listed below the component.
    var lists: [String] { (routes ?? []) + (screens ?? []) }
    /// The streams in one line; `nil` if there are none.
    var streamLine: String? { streams.map { "streams: \($0.joined(separator: ", "))" } }
}

/// A planned wire, or a wire of a running host.
struct WireRow: Codable, Sendable {
    var user: String?
    var label: String
    var provider: String
    var contract: String
    var version: String
    var lane: String
    /// The reason why the wire is not native.
    var reason: String?

    init(_ wire: WireStatus) {
        (user, label, provider, contract, version) = (
            wire.user, wire.label, wire.provider, wire.contract, wire.version.description
        )
        (lane, reason) = (wire.lane.name, wire.lane.reason)
    }

    static let header = ["USER", "LABEL", "PROVIDER", "CONTRACT", "LANE", "WHY"]

    var cells: [Span] {
        [user ?? "host program", label, provider, "\(contract) \(version)"].map { Span($0.printable) }
            + [Span(lane, reason == nil ? .good : .doubtful), Span((reason ?? "").printable)]
    }

    var tree: Tree {
        Tree([
            Span("\(label) → \(provider): \(contract) \(version), ".printable),
            Span(lane, reason == nil ? .good : .doubtful), Span((reason.map { ": \($0)" } ?? "").printable),
        ])
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

    func spans(in file: String) -> [Span] { text(in: file).map { [Span("  " + $0.printable, .faint)] } ?? [] }
}

/// The choice among the components of one class, with the reasons why the others were not chosen.
struct VersionChoice: Sendable {
    /// A component of the same class that was not chosen.
    struct PassedOver: Codable, Sendable, Hashable {
        var version: String
        var plugin: String
        var because: String
    }
    /// The chosen component, or `nil` if none fits.
    let entry: Catalogue.Entry?
    /// The reason for the choice, as a phrase.
    let why: String
    let passedOver: [PassedOver]

    init(_ definition: PlacedDefinition, in composition: Composition) {
        let entry = composition.catalogue.entry(for: definition),
            all = composition.catalogue.entries(named: definition.className)
        self.entry = entry
        passedOver = all.filter { $0 != entry }.map { other in
            PassedOver(
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
