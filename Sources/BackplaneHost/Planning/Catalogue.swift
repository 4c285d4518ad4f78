package import Backplane

/// Every component that the loaded plugins registered.
package struct Catalogue: Sendable {
    /// One component of one plugin.
    package struct Entry: Sendable, Hashable {
        /// The plugin's id.
        package var plugin: String
        package var pluginVersion: Version
        /// The plugin's place among the plugins.
        package var order: Int
        /// The component's place among its plugin's.
        package var index: Int
        package var component: ComponentDescription

        package init(plugin: String, pluginVersion: Version, order: Int, index: Int, component: ComponentDescription) {
            (self.plugin, self.pluginVersion, self.order, self.index) = (plugin, pluginVersion, order, index)
            self.component = component
        }
    }

    package let entries: [Entry]
    /// The entries by class name, the best first.
    private let ranked: [String: [Entry]]

    package init(_ entries: [Entry] = []) {
        self.entries = entries
        ranked = Dictionary(grouping: entries, by: \.component.className).mapValues { entries in
            entries.sorted { a, b in
                a.component.version == b.component.version
                    ? (a.order, a.index) < (b.order, b.index)
                    : a.component.version > b.component.version
            }
        }
    }

    /// The components of a class, in every role, from the highest version down, equal ones in the order of their plugins.
    package func entries(named className: String) -> [Entry] {
        ranked[className] ?? []
    }

    /// The one to take: of those that fit the highest version, of several of that the one of the earliest plugin.
    package func best(_ className: String, as role: Role, in range: VersionRange? = nil) -> Entry? {
        entries(named: className).first { $0.component.role == role && range?.contains($0.component.version) ?? true }
    }

    /// The names of all classes in a role, sorted.
    package func classNames(as role: Role) -> [String] {
        Set(entries.lazy.filter { $0.component.role == role }.map(\.component.className)).sorted()
    }
}

extension Catalogue.Entry {
    /// By its place: no two entries of a catalogue share one, and the rest is much to hash.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(order)
        hasher.combine(index)
    }
}

extension Catalogue.Entry: CustomStringConvertible {
    /// For messages: "`BooksService` 2.1.0 of plugin `org.example.books`".
    package var description: String {
        "`\(component.className)` \(component.version) of plugin `\(plugin)`"
    }
}
