import Backplane
import BackplaneNetwork
import Glibc

/// The files that arguments name; no path below a component's folder may escape it through a link.
struct FileArguments: Sendable {
    /// The component's folder; `nil` in a program.
    let folder: String?

    /// Returns the part of a form for a file.
    ///
    /// - Throws: `file.refused`.
    func part(_ file: FilePart) throws(BackplaneError) -> HTTPPart {
        guard let given = file.path else { return file.part }
        let path = try path(of: given)
        return path == given ? file.part : file.moved(to: path).part
    }

    /// Returns the part of a form for an object that describes a file, as `StoredFile` does; `nil` for another object.
    ///
    /// - Parameters:
    ///   - members: `path`; `size` for a file of another component; and optionally `name`, `fileName` and `type`, as of
    ///     a ``FilePart``.
    ///   - field: The name of the form's field, unless the object has one.
    /// - Throws: `file.refused`.
    func part(_ members: [String: ArgumentValue], of field: String) throws(BackplaneError) -> HTTPPart? {
        guard case .text(let given)? = members["path"] else { return nil }
        let path = try path(of: given)
        if case .number(let size)? = members["size"] {
            try require(path, size: size)
        } else if let folder, !path.hasPrefix(folder + "/") {
            throw BackplaneError(
                .fileRefused,
                "the file is not in the component's folder \(folder), and has no `size`; hand it over as a `StoredFile`",
                at: given)
        }
        let last = given.split(separator: "/").last.map(String.init) ?? given
        return .file(
            text("name", in: members) ?? field, path, fileName: text("fileName", in: members) ?? last,
            type: text("type", in: members) ?? "application/octet-stream")
    }

    private func text(_ key: String, in members: [String: ArgumentValue]) -> String? {
        if case .text(let text)? = members[key] { text } else { nil }
    }

    /// Returns the absolute path of a file.
    private func path(of file: String) throws(BackplaneError) -> String {
        guard let folder, !file.utf8.contains(0) else { return file }
        let whole = file.hasPrefix("/") ? file : "\(folder)/\(file)"
        // A missing file is reported by its reader.
        guard whole.hasPrefix(folder + "/"), let found = Self.real(whole), let own = Self.real(folder) else {
            return whole
        }
        guard found.hasPrefix(own + "/") else {
            throw BackplaneError(
                .fileRefused,
                "this path escapes the component's folder \(folder), through `..` or a symbolic link", at: file)
        }
        return whole
    }

    /// Requires a regular file whose size has not changed since it was handed over.
    private func require(_ path: String, size: String) throws(BackplaneError) {
        var status = stat()
        guard !path.utf8.contains(0), lstat(path, &status) == 0 else {
            let reason = path.utf8.contains(0) ? "a path cannot contain a zero byte" : String(cString: strerror(errno))
            throw BackplaneError(.fileRefused, "the file cannot be sent: \(reason)", at: path)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw BackplaneError(
                .fileRefused, "this is not a regular file; only regular files can be handed over", at: path)
        }
        guard size == "\(status.st_size)" else {
            throw BackplaneError(
                .fileRefused,
                "the file had \(size) bytes when it was handed over and has \(status.st_size); hand over files that are finished",
                at: path)
        }
    }

    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}
