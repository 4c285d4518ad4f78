public import Backplane
import BackplaneDocuments

/// A lock entry: the class version to which a definition is pinned, and the plugin that registers that class.
///
/// The keys of the lock identify the definitions: `LibraryManager`, `LibraryManager/dataAccessController`,
/// `LibraryManager/communicationController`, and, for a service, the property that receives it:
/// `LibraryManager/communicationController/books`. A slash in a name is written `~1`, as in a JSON pointer.
public struct LockedClass: Sendable, Hashable {
    /// The id of the plugin.
    public var plugin: String
    /// The chosen version; choosing any other version is an error.
    public var version: Version

    /// Creates a lock entry.
    public init(plugin: String, version: Version) {
        (self.plugin, self.version) = (plugin, version)
    }
}

extension LockedClass: CustomStringConvertible {
    /// The entry as text for messages: "2.1.0 of plugin `org.example.books`".
    public var description: String { "\(version) of plugin `\(plugin)`" }
}

extension LockedClass {
    var value: ManifestValue { ["plugin": .string(plugin), "version": .string(version.description)] }
}

extension [String: LockedClass] {
    var value: ManifestValue { .dictionary(mapValues(\.value)) }
}
