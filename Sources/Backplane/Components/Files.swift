import FoundationEssentials
import Glibc

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

/// A finished file in a component's folder, to be handed over to the data access controller that stores it.
///
/// ```swift
/// try await context.http.download(HTTPRequest("GET", url), to: "whale.epub", call)
/// return try context.stored("whale.epub")                  // in a network service
/// let path = try context.adopt(file, as: "whale.epub")     // in a data access controller
/// ```
///
/// Only the path crosses wires; the bytes stay where they are until a data access controller moves the file.
public struct StoredFile: Codable, Sendable {
    /// The absolute path.
    public let path: String
    /// The number of bytes.
    public let size: Int64

    package init(path: String, size: Int64) { (self.path, self.size) = (path, size) }
}

extension HasFolder {
    /// Returns a finished file of the component's folder, to hand it to another component.
    ///
    /// - Parameter name: The path of the file, relative to the folder.
    /// - Throws: `file.refused` if it is not a regular file in the folder.
    public func stored(_ name: String) throws(BackplaneError) -> StoredFile {
        let path = try folder.file(named: name)
        return StoredFile(path: path, size: try BackplaneError.sizeOfFile(path))
    }
}

extension DataAccessContext where Owner: Component {
    /// Moves a file of another component to this component's folder.
    ///
    /// The file is renamed, so that the cost does not depend on its size, and no reader finds a partial file. Its
    /// former owner no longer has it.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - name: The new path of the file, relative to this component's folder. An existing file is replaced.
    /// - Returns: The new absolute path.
    /// - Throws: `file.refused` if the file is missing, has changed since it was handed over, or cannot be moved.
    @discardableResult
    public func adopt(_ file: StoredFile, as name: String) throws(BackplaneError) -> String {
        let path = try folder.file(named: name), size = try BackplaneError.sizeOfFile(file.path)
        guard size == file.size else {
            throw BackplaneError(
                .fileRefused,
                "the file had \(file.size) bytes when it was handed over and has \(size); hand over files that are finished",
                at: file.path)
        }
        guard rename(file.path, path) == 0 else {
            let reason = String(cString: strerror(errno))
            throw BackplaneError(
                .fileRefused,
                "the file cannot be moved to \(path): \(reason); create the folder first if it is missing",
                at: file.path)
        }
        return path
    }
}

extension String {
    fileprivate func file(named name: String) throws(BackplaneError) -> String {
        guard !isEmpty else {
            throw BackplaneError(.fileRefused, "the component has no folder", at: name)
        }
        let steps = Array(name.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard !steps.contains(where: { ["", ".", ".."].contains($0) }), !name.utf8.contains(0) else {
            throw BackplaneError(
                .fileRefused, "this is not a path in the component's folder; use a path relative to it",
                at: name)
        }
        return "\(self)/\(name)"
    }
}

extension BackplaneError {
    fileprivate static func sizeOfFile(_ path: String) throws(BackplaneError) -> Int64 {
        var status = stat()
        guard !path.utf8.contains(0), lstat(path, &status) == 0 else {
            let reason = String(cString: strerror(errno))
            throw BackplaneError(.fileRefused, "the file cannot be handed over: \(reason)", at: path)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw BackplaneError(
                .fileRefused, "this is not a regular file; only regular files can be handed over", at: path)
        }
        return Int64(status.st_size)
    }
}
