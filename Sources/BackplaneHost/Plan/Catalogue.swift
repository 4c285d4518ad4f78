package import Backplane

/// The component classes that the loaded plugins registered.
package struct Catalogue: Sendable {
    /// A component class of a plugin.
    ///
    /// An entry is a class, because every node of a plan has one, and copying a value would retain each of its many
    /// parts.
    package final class Entry: Sendable {
        /// The id of the plugin.
        package let plugin: String
        package let pluginVersion: Version
        /// The position of the plugin among all plugins.
        package let order: Int
        /// The position of the class among those of its plugin.
        package let index: Int
        package let component: ComponentDescription

        package init(plugin: String, pluginVersion: Version, order: Int, index: Int, component: ComponentDescription) {
            (self.plugin, self.pluginVersion, self.order, self.index) = (plugin, pluginVersion, order, index)
            self.component = component
        }
    }

    package let entries: [Entry]
    /// The entries by class name, highest version first.
    private let ranked: [String: [Entry]]
    /// The choices for definitions that the built-in class serves, keyed by their paths in the manifest.
    private let builtIns: [String: BuiltInChoice]

    package init(_ entries: [Entry] = [], builtIns: [String: BuiltInChoice] = [:]) {
        (self.entries, self.builtIns) = (entries, builtIns)
        ranked = Dictionary(grouping: entries, by: \.component.className).mapValues { entries in
            entries.sorted { a, b in
                a.component.version == b.component.version
                    ? (a.order, a.index) < (b.order, b.index)
                    : a.component.version > b.component.version
            }
        }
    }

    /// Returns the classes called `className` in all roles, highest version first.
    ///
    /// Equal versions are in the order of their plugins.
    package func entries(named className: String) -> [Entry] {
        ranked[className] ?? []
    }

    /// Returns the class with the highest matching version; if several plugins have it, the first plugin's class.
    package func best(_ className: String, as role: Role, in range: VersionRange? = nil) -> Entry? {
        entries(named: className).first { $0.component.role == role && range?.contains($0.component.version) ?? true }
    }

    /// Returns the choice for a definition that the built-in class serves; `nil` for any other definition.
    func builtIn(for definition: PlacedDefinition) -> BuiltInChoice? {
        builtIns.isEmpty ? nil : builtIns[definition.path.description]
    }

    /// Returns the class chosen for a definition; `nil` if none matches.
    package func entry(for definition: PlacedDefinition) -> Entry? {
        if let choice = builtIn(for: definition) { return choice.entry }
        return best(definition.className, as: definition.role, in: definition.range)
    }

    /// Returns the names of all classes in a role, sorted.
    package func classNames(as role: Role) -> [String] {
        Set(entries.lazy.filter { $0.component.role == role }.map(\.component.className)).sorted()
    }
}

extension Catalogue.Entry: Hashable {
    package static func == (a: Catalogue.Entry, b: Catalogue.Entry) -> Bool {
        a === b
            || (a.order, a.index, a.plugin, a.pluginVersion) == (b.order, b.index, b.plugin, b.pluginVersion)
                && a.component == b.component
    }

    /// Hashes only the position, which is unique in a catalogue, because hashing the rest is expensive.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(order)
        hasher.combine(index)
    }
}

extension Catalogue.Entry: CustomStringConvertible {
    /// The entry as text for messages: "`BooksService` 2.1.0 of plugin `org.example.books`".
    package var description: String {
        "`\(component.className)` \(component.version) of plugin `\(plugin)`"
    }
}
