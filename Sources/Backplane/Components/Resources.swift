import FoundationEssentials

/// The read-only files that came with a plugin: copied together with its library, so that both are of one generation.
///
/// `Bundle.module` does not work in a plugin that was loaded from a copy; this does.
public struct Resources: Sendable {
    /// The folder's path; `nil` when the plugin came without files.
    public let folder: String?

    package init(folder: String?) { self.folder = folder }

    /// Reads a file whole.
    ///
    /// - Parameter name: a path below the folder, `names/en.json`.
    /// - Throws: `resource.missing` for a file that is not there, or outside the folder.
    public func data(_ name: String) throws(BackplaneError) -> [UInt8] {
        let path = try path(name)
        do {
            return Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw BackplaneError(.resourceMissing, "the plugin's file cannot be read: \(error)", at: path)
        }
    }

    /// The path of a file, for whoever reads it in another way.
    ///
    /// - Throws: `resource.missing` for a file that is not there, or outside the folder.
    public func path(_ name: String) throws(BackplaneError) -> String {
        guard let folder else {
            throw BackplaneError(.resourceMissing, "the plugin came without files; put a folder `<Package>_<Library>.resources` beside its library", at: name)
        }
        guard !name.isEmpty, !name.hasPrefix("/"), !name.utf8.contains(0), !name.split(separator: "/").contains("..") else {
            throw BackplaneError(.resourceMissing, "expected a path below the plugin's resources, found `\(name)`", at: folder)
        }
        let path = "\(folder)/\(name)"
        guard FileManager.default.fileExists(atPath: path) else {
            throw BackplaneError(.resourceMissing, "the plugin came without a file `\(name)`", at: folder)
        }
        return path
    }
}
