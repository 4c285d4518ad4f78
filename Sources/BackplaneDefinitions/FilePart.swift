import Backplane
import BackplaneDocuments
import BackplaneNetwork
import Glibc

/// A file that a method sends in a form, as an argument named in the definition's `files`.
///
/// ```swift
/// let cover = FilePart("cover", path: "/data/whale.png", type: "image/png")
/// let receipt: Receipt = try await shop.sendPictures([cover])
/// ```
public struct FilePart: Sendable {
    fileprivate let part: HTTPPart
    private let description: Description
    /// The path of the file; `nil` for bytes in memory.
    fileprivate var path: String? { description.path }

    /// The encodable properties of the part.
    private struct Description: Encodable {
        var name: String
        var path, fileName: String?
        var type: String
    }

    /// Creates a part that is read from a file while it is sent.
    ///
    /// - Parameters:
    ///   - name: The name of the form's field.
    ///   - path: The path of the file, inside a component relative to its folder.
    ///   - fileName: The file name that is sent; `nil` means the last component of the path.
    ///   - type: The media type.
    public init(
        _ name: String, path: String, fileName: String? = nil, type: String = "application/octet-stream"
    ) {
        part = .file(name, path, fileName: fileName, type: type)
        description = Description(name: name, path: path, fileName: fileName, type: type)
    }

    /// Creates a part with bytes in memory.
    ///
    /// - Parameters:
    ///   - name: The name of the form's field.
    ///   - bytes: The content.
    ///   - fileName: The file name that is sent.
    ///   - type: The media type.
    public init(_ name: String, bytes: [UInt8], fileName: String, type: String = "application/octet-stream") {
        part = .bytes(name, bytes, fileName: fileName, type: type)
        description = Description(name: name, fileName: fileName, type: type)
    }

    /// Returns the same part with the file at another path.
    fileprivate func moved(to path: String) -> FilePart {
        let last = self.path?.split(separator: "/").last.map(String.init)
        return FilePart(description.name, path: path, fileName: description.fileName ?? last, type: description.type)
    }
}

extension FilePart: Encodable {
    /// Encodes the properties of the part, without its content, so that it can be an argument.
    public func encode(to encoder: any Encoder) throws {
        (encoder.userInfo[.attachments] as? Attachments)?.add(self, at: encoder.codingPath)
        try description.encode(to: encoder)
    }
}

/// The files that arguments name; a path below a component's folder must not leave the folder through a link.
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

    /// Returns the part of a form for an object that describes a file, as `StoredFile` does; `nil` for another value.
    ///
    /// - Parameters:
    ///   - value: An object with `path`; `size` for a file of another component; and optionally `name`, `fileName` and
    ///     `type`, as of a ``FilePart``.
    ///   - field: The name of the form's field, unless the object has one.
    /// - Throws: `file.refused`.
    func part(_ value: DocumentValue, of field: String) throws(BackplaneError) -> HTTPPart? {
        guard case .dictionary(let members) = value, case .string(let given)? = members["path"] else { return nil }
        func text(_ key: String) -> String? { if case .string(let text)? = members[key] { text } else { nil } }
        let path = try path(of: given)
        if case .integer(let size)? = members["size"] {
            try require(path, size: size)
        } else if let folder, !path.hasPrefix(folder + "/") {
            throw BackplaneError(
                .fileRefused,
                "the file is not in the component's folder \(folder), and has no `size`; hand it over as a `StoredFile`",
                at: given)
        }
        let last = given.split(separator: "/").last.map(String.init) ?? given
        return .file(
            text("name") ?? field, path, fileName: text("fileName") ?? last,
            type: text("type") ?? "application/octet-stream")
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
    private func require(_ path: String, size: Int64) throws(BackplaneError) {
        var status = stat()
        guard !path.utf8.contains(0), lstat(path, &status) == 0 else {
            let reason = path.utf8.contains(0) ? "a path cannot contain a zero byte" : String(cString: strerror(errno))
            throw BackplaneError(.fileRefused, "the file cannot be sent: \(reason)", at: path)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw BackplaneError(
                .fileRefused, "this is not a regular file; only regular files can be handed over", at: path)
        }
        guard size == status.st_size else {
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
