package import Backplane

/// The properties of a loaded library that attribute its code to its plugin.
package struct PluginImage: Sendable, Hashable {
    package var id: String
    package var version: Version
    /// The name of the file where it was built.
    package var library: String
    /// The path of the copy that was loaded.
    package var copy: String

    package init(id: String, version: Version, library: String, copy: String) {
        (self.id, self.version, self.library, self.copy) = (id, version, library, copy)
    }
}

extension PluginImage: CustomStringConvertible {
    /// The image as text: "org.example.books 1.2.0 (libBooks.so)".
    package var description: String { "\(id) \(version) (\(library))" }
}
