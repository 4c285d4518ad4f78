public import Backplane
import BackplaneDocuments

/// What a manifest's lock holds a definition to: the version of its class, and the plugin that registers it.
///
/// The lock's keys name the definitions: `LibraryManager`, `LibraryManager/dataAccessController`,
/// `LibraryManager/communicationController`, and, by the property it is given to,
/// `LibraryManager/communicationController/books`. A slash in a name is written `~1`, as in a JSON pointer.
public struct LockedClass: Sendable, Hashable {
    /// The plugin's id.
    public var plugin: String
    /// The version of the class.
    public var version: Version

    public init(plugin: String, version: Version) {
        (self.plugin, self.version) = (plugin, version)
    }
}

extension LockedClass: CustomStringConvertible {
    /// For messages: "2.1.0 of plugin `org.example.books`".
    public var description: String { "\(version) of plugin `\(plugin)`" }
}

extension LockedClass {
    var value: ManifestValue { ["plugin": .string(plugin), "version": .string(version.description)] }
}

extension [String: LockedClass] {
    var value: ManifestValue { .dictionary(mapValues(\.value)) }
}
