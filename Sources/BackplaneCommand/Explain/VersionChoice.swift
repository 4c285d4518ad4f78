import Backplane
import BackplaneHost

/// The choice among the components of one class, and why the others were not chosen.
struct VersionChoice: Sendable {
    /// The chosen component, or `nil` if none fits.
    let entry: Catalogue.Entry?
    /// The reason for the choice, as a phrase.
    let why: String
    let passedOver: [Explanation.PassedOver]

    init(_ definition: ComponentDefinition, in composition: Composition) {
        let entry = composition.choice(for: definition),
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

    private static func fits(_ entry: Catalogue.Entry, _ definition: ComponentDefinition) -> Bool {
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
        _ other: Catalogue.Entry, _ definition: ComponentDefinition, beside chosen: Catalogue.Entry?
    ) -> String {
        if other.component.role != definition.role { return "a \(other.component.role), not a \(definition.role)" }
        if let range = definition.range, !range.contains(other.component.version) { return "not in \(range)" }
        return other.component.version == chosen?.component.version ? "from a later plugin" : "a lower version"
    }
}
