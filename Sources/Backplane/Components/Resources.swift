import FoundationEssentials

/// The read-only files of a plugin, copied with its library so that both belong to one generation.
///
/// They replace `Bundle.module`, which does not work in a plugin that was loaded from a copy.
public struct Resources: Sendable {
    /// The folder's path; `nil` for a plugin without files.
    public let folder: String?

    package init(folder: String?) { self.folder = folder }

    /// Returns the content of a file.
    ///
    /// - Parameter name: A path below the folder, such as `names/en.json`.
    /// - Throws: `resource.missing` for a file that does not exist, cannot be read or is outside the folder.
    public func data(_ name: String) throws(BackplaneError) -> [UInt8] {
        let path = try path(name)
        do {
            return Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw BackplaneError(.resourceMissing, "the plugin's file cannot be read: \(error)", at: path)
        }
    }

    /// Returns the path of a file, for code that reads it in another way.
    ///
    /// - Parameter name: A path below the folder, such as `names/en.json`.
    /// - Throws: `resource.missing` for a file that does not exist or is outside the folder.
    public func path(_ name: String) throws(BackplaneError) -> String {
        guard let folder else {
            throw BackplaneError(
                .resourceMissing,
                "the plugin has no resources; put a folder `<Package>_<Library>.resources` next to its library",
                at: name)
        }
        guard !name.isEmpty, !name.hasPrefix("/"), !name.utf8.contains(0),
            !Array(name.utf8).split(separator: UInt8(ascii: "/")).contains(where: { $0.elementsEqual("..".utf8) })
        else {
            throw BackplaneError(
                .resourceMissing, "expected a path below the plugin's resources, found `\(name)`", at: folder)
        }
        let path = "\(folder)/\(name)"
        guard FileManager.default.fileExists(atPath: path) else {
            throw BackplaneError(.resourceMissing, "the plugin has no resource `\(name)`", at: folder)
        }
        return path
    }
}
