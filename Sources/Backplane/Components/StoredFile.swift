import Glibc

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

extension StoredFile {
    private static let (pathKey, sizeKey) = (TextKey("path"), TextKey("size"))

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        path = try values.decode(String.self, forKey: Self.pathKey)
        size = try values.decode(Int64.self, forKey: Self.sizeKey)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(path, forKey: Self.pathKey)
        try values.encode(size, forKey: Self.sizeKey)
    }
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
    /// Returns the path of a file in this folder.
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
    /// Returns the size of a regular file.
    fileprivate static func sizeOfFile(_ path: String) throws(BackplaneError) -> Int64 {
        var status = stat()
        guard !path.utf8.contains(0), lstat(path, &status) == 0 else { throw notUsable(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw BackplaneError(
                .fileRefused, "this is not a regular file; only regular files can be handed over", at: path)
        }
        return Int64(status.st_size)
    }

    fileprivate static func notUsable(_ path: String, _ number: Int32) -> BackplaneError {
        BackplaneError(.fileRefused, "the file cannot be handed over: \(String(cString: strerror(number)))", at: path)
    }
}
