package import Backplane
package import BackplaneDocuments
package import FoundationEssentials
import Glibc

/// The access to definition files, each of which is read as a whole.
package enum DefinitionFile {
    /// The name of the file with the header fields that the web services of a folder share.
    package static let sharedHeaders = "NCWebService.plist"
    /// The prefix of the names of Nemo Connect's files.
    package static let prefix = "NCWebService+"

    /// Returns the contents of a file.
    ///
    /// - Throws: `definition.unreadable`, including for anything but a regular file, and for a file that is too large
    ///   for a document.
    package static func read(_ path: String) throws(BackplaneError) -> Data {
        // The system would take a path that contains a zero for a shorter one.
        guard !path.utf8.contains(0) else { throw unreadable(path, "a path cannot contain a zero byte") }
        // Not blocking, because opening a pipe would wait for its writer.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw unreadable(path, String(cString: strerror(errno))) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw unreadable(path, String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw unreadable(path, "expected a regular file") }
        var bytes: [UInt8] = []
        while bytes.count <= DocumentLimits.bytes {
            var failure: Int32 = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, filled in
                var result: Int
                repeat {
                    result = Glibc.read(file, buffer.baseAddress, buffer.count)
                } while result < 0 && errno == EINTR
                if result < 0 { failure = errno }
                filled = max(0, result)
            }
            guard failure == 0 else { throw unreadable(path, String(cString: strerror(failure))) }
            if chunk.isEmpty { return Data(bytes) }
            bytes += chunk
        }
        throw unreadable(path, "a definition has at most \(DocumentLimits.bytes >> 20) MB")
    }

    /// Returns `true` for a folder at a path and `false` for any other file; returns `nil` if nothing exists there.
    package static func isFolder(_ path: String) -> Bool? {
        var status = stat()
        guard !path.utf8.contains(0), stat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns whether there is a regular file, or a link to one, at a path.
    package static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return !path.utf8.contains(0) && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Returns the definition of a web service in a folder.
    ///
    /// - Throws: `definition.unreadable` if there is none.
    static func path(of name: String, in folder: String) throws(BackplaneError) -> String {
        guard !name.isEmpty, name != ".", name != "..",
            !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
        else {
            throw unreadable(folder, "`\(name)` is not the name of a web service, which is a part of a file's name")
        }
        let candidates = names(of: name)
        if let found = candidates.first(where: { isFolder("\(folder)/\($0)") == false }) { return "\(folder)/\(found)" }
        let tried = candidates.map { "`\($0)`" }.joined(separator: ", ")
        let question = NameSuggestions(for: name, among: definitions(in: folder)).question
        throw unreadable(
            folder, "the folder has no definition of `\(name)`: \(tried)" + (question.map { "; \($0)" } ?? ""))
    }

    /// Returns the names of files that may define a web service, in the order in which they are tried.
    package static func names(of service: String) -> [String] {
        ["\(prefix)\(service).plist", "\(service).plist", "\(service).json"]
    }

    /// Returns the names of the web services that a folder may define.
    private static func definitions(in folder: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.compactMap { file in
            guard let dot = file.lastIndex(of: "."), ["plist", "json"].contains(file[file.index(after: dot)...]) else {
                return nil
            }
            let name = file[..<dot]
            return String(name.hasPrefix(prefix) ? name.dropFirst(prefix.count) : name)
        }
    }

    /// Returns whether a file contains shared header fields, judging by its name.
    package static func hasSharedHeaders(_ path: String) -> Bool { name(of: path) == sharedHeaders }

    /// Returns whether a file is a definition rather than a manifest, judging by its name or its content.
    ///
    /// - Parameter value: The content; `nil` if it is malformed.
    package static func isDefinition(_ value: DocumentValue?, named path: String) -> Bool {
        if name(of: path).hasPrefix(prefix) || hasSharedHeaders(path) { return true }
        guard case .dictionary(let values)? = value, values["manifestVersion"] == nil, values["managers"] == nil else {
            return false
        }
        return values.values.contains { value in
            if case .dictionary(let members) = value { members["request"] != nil } else { false }
        }
    }

    private static func name(of path: String) -> String {
        path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? path
    }

    private static func unreadable(_ path: String, _ reason: String) -> BackplaneError {
        BackplaneError(.definitionUnreadable, "the definition cannot be read: \(reason)", at: path)
    }
}
