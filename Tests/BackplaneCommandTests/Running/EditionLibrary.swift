import Foundation
import TestFixtures

/// A plugin in C in several editions: its manager says which it is and how often it was asked to count.
enum EditionLibrary {
    static let id = "org.example.edition"

    /// Writes an edition to `folder/name` and returns its path.
    ///
    /// - Parameters:
    ///   - manager: another class name, and in small letters the end of another id.
    ///   - className: a class name of its own, which the id does not follow.
    ///   - settings: what else is different (`Tests/Plugins/FixturesInC/edition.c`).
    @discardableResult
    static func write(
        _ edition: Int, of manager: String = "Edition", to folder: String, as name: String = "libEdition.so",
        className: String? = nil, settings: [String: String] = [:]
    ) throws -> String {
        let path = folder + "/" + name
        let bytes = try FixtureLibrary.bytes(
            id: "org.example.\(manager.lowercased())", version: "\(edition).0.0",
            settings: settings.merging(["Edition": className ?? manager]) { own, _ in own })
        guard FileContents.write(bytes, to: path) else { throw CocoaError(.fileWriteUnknown) }
        return path
    }

    /// A manifest with one manager of it.
    static let manifest = manifest("Edition")

    /// A manifest with a manager of each of such libraries.
    static func manifest(_ names: String...) -> String {
        let plugins = names.map { #"{"library": "\#($0)"}"# },
            managers = names.map { #""\#($0)": {"className": "\#($0)"}"# }
        return
            #"{"manifestVersion": 1, "plugins": [\#(plugins.joined(separator: ", "))], "managers": {\#(managers.joined(separator: ", "))}}"#
    }
}
