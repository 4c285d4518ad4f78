package import Backplane

/// A plugin's library in this process, as far as one has to know it to tell its code from others'.
package struct PluginImage: Sendable, Hashable {
    package var id: String
    package var version: Version
    /// The file's name where it was built.
    package var library: String
    /// The copy that was loaded.
    package var copy: String

    package init(id: String, version: Version, library: String, copy: String) {
        (self.id, self.version, self.library, self.copy) = (id, version, library, copy)
    }
}

extension PluginImage: CustomStringConvertible {
    /// "org.example.books 1.2.0 (libBooks.so)"
    package var description: String { "\(id) \(version) (\(library))" }
}
