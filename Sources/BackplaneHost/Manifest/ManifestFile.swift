package import Backplane
import BackplaneDocuments
package import FoundationEssentials
import Glibc

package enum ManifestFile {
    /// The time limit for the first bytes of a pipe, and again for the next ones.
    private static let patience = Duration.seconds(5)
    /// The total time limit for reading a pipe.
    private static let limit = Duration.seconds(60)

    /// Returns the contents of a file, or the data that another program writes into a pipe.
    ///
    /// - Parameter onlyRegular: Whether anything but a regular file is refused.
    /// - Throws: `manifest.unreadable`, including for a pipe that is not written to.
    package static func read(_ path: String, onlyRegular: Bool = false) throws(BackplaneError) -> Data {
        // One byte more than is allowed, so that the reader notices an excess.
        let most = DocumentLimits.bytes + 1
        do throws(SystemError) {
            // Without O_NONBLOCK, opening a pipe without a writer would block.
            let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK), status = try FileStatus(of: file)
            switch status.kind {
            case .file: return Data(try file.bytes(count: most))
            case .folder: throw SystemError(EISDIR)
            case .link, .other:
                guard !onlyRegular else { throw SystemError(ESPIPE) }
                return Data(try file.bytesOfPipe(count: most, patience: patience, limit: limit))
            }
        } catch {
            let reason =
                switch error.number {
                case ESPIPE: "expected a regular file, found a pipe, a device or a socket"
                case ETIMEDOUT: "nothing was written to it for \(patience), or it did not end within \(limit)"
                case ENOENT: "\(error)" + (question(about: path).map { "; \($0)" } ?? "")
                default: "\(error)"
                }
            throw BackplaneError(.manifestUnreadable, "the manifest cannot be read: \(reason)", at: path)
        }
    }

    /// Returns a question that suggests a file with a similar name in the same folder; `nil` if there is none.
    private static func question(about path: String) -> String? {
        let names = try? FileManager.default.contentsOfDirectory(atPath: FilePath.folder(of: path))
        return NameSuggestions(for: FilePath.name(of: path), among: names ?? []).question
    }
}

extension ManifestFile {
    /// Replaces a manifest file, or the target of a symbolic link, preserving its owner and permissions.
    ///
    /// - Throws: `manifest.unwritable`, including for a read-only file.
    package static func replace(_ path: String, with bytes: Data) throws(BackplaneError) {
        guard let resolved = realpath(path, nil) else { throw unwritable(path, SystemError.last) }
        defer { free(resolved) }
        try replace(String(cString: resolved), named: path, with: bytes)
    }

    /// Writes a new file.
    ///
    /// - Parameters:
    ///   - model: A file whose permissions limit those of the new one.
    ///   - replaces: Whether to replace an existing file, preserving its owner and
    ///     permissions.
    /// - Throws: `manifest.unwritable`.
    package static func create(_ path: String, with bytes: Data, like model: String, replaces: Bool)
        throws(BackplaneError)
    {
        if (try? FileStatus(at: path)) != nil {
            guard replaces else {
                throw BackplaneError(
                    .manifestUnwritable, "the file already exists; overwrite it with --force", at: path)
            }
            return try replace(path, named: path, with: bytes)
        }
        do { try FileReplacement.create(path, with: bytes, mode: permissions(like: model)) } catch {
            throw unwritable(path, error)
        }
    }

    /// Replaces a file whose symbolic links are resolved.
    ///
    /// - Parameter name: The path of the file in errors.
    private static func replace(_ path: String, named name: String, with bytes: Data) throws(BackplaneError) {
        let status: FileStatus
        do { status = try FileStatus(at: path) } catch { throw unwritable(name, error) }
        guard status.kind == .file else {
            throw BackplaneError(
                .manifestUnwritable, "expected a regular file to replace, found \(status.kind.rawValue)", at: name)
        }
        // Renaming does not need the right to write to the file, nor does root, but a read-only file should not be
        // lost.
        guard status.mode & 0o222 != 0, faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 else {
            let words = "the file is read-only (mode \(status.modeText)); `chmod u+w` allows it to be replaced"
            throw BackplaneError(.manifestUnwritable, words, at: name)
        }
        do { try FileReplacement.replace(path, status, with: bytes) } catch { throw unwritable(name, error) }
    }

    /// Returns a regular file's permissions without the right to execute it; for other files, a new file's permissions.
    ///
    /// Only the permissions of a regular file indicate who may read its contents.
    private static func permissions(like model: String) -> UInt32 {
        guard let file = try? FileDescriptor(opening: model, O_RDONLY | O_NONBLOCK),
            let status = try? FileStatus(of: file), status.kind == .file
        else {
            return 0o666
        }
        return status.mode & 0o666
    }

    private static func unwritable(_ path: String, _ error: SystemError) -> BackplaneError {
        BackplaneError(.manifestUnwritable, "the manifest cannot be written: \(error)", at: path)
    }
}

/// A namespace for edits of a manifest's text that change nothing else.
package enum ManifestText {
    /// Returns the bytes with a library appended to the plugins, and managers to the managers.
    ///
    /// - Parameter library: The name of the library; a library that is `nil` or already present is not added. A
    ///   manifest without `plugins` uses every library.
    /// - Throws: `manifest.unsupported` unless it is JSON in the `backplane` dialect; `manifest.missing-key` if there
    ///   are no `managers`; `manifest.malformed` for a manager that is already present; `manifest.unwritable` if the
    ///   text cannot be edited.
    package static func add(library: String?, managers: [String: ManifestValue], to bytes: Data) throws(BackplaneError)
        -> Data
    {
        guard ManifestFormat(of: bytes) == .json else {
            throw BackplaneError(
                .manifestUnsupported,
                "a property list cannot be edited in place; convert it to JSON with `backplane convert`")
        }
        var
            root = try Self.root(
                of: bytes, "`manifestVersion` is missing; add it with `backplane convert --upgrade`"),
            text: Data? = bytes
        if let library, case .array(let plugins)? = root["plugins"] {
            if !plugins.contains(where: { $0.library == .string(library) }) {
                let entry = ManifestValue.string(library)
                text = JSONEdit.append(entry, ManifestShape.plugin, to: ManifestPath() / "plugins", of: bytes)
                root["plugins"] = .array(plugins + [entry])
            }
        }
        guard case .dictionary(var present)? = root["managers"] else {
            throw BackplaneError(
                .manifestMissingKey,
                "there is no dictionary of managers; add `\"managers\": {}` and try again", at: "/managers")
        }
        for (name, value) in managers.sorted(by: { $0.key < $1.key }) {
            guard present[name] == nil else {
                throw BackplaneError(.manifestMalformed, "there is already a manager `\(name)`", at: "/managers")
            }
            text = text.flatMap { JSONEdit.set(value, ManifestShape.manager, forKey: name, in: .managers, of: $0) }
            present[name] = value
        }
        root["managers"] = .dictionary(present)
        return try checked(text, root, "the entry could not be inserted into the text; add it by hand")
    }

    /// Returns the bytes with the given lock.
    ///
    /// A manifest that already has this lock is returned unchanged; a property list is rewritten as a whole.
    ///
    /// - Throws: `manifest.unsupported` for a plain Nemo Logic manifest; `manifest.unwritable` if the text cannot be
    ///   edited.
    package static func put(lock: [String: LockedClass], into bytes: Data) throws(BackplaneError) -> Data {
        var root = try Self.root(
            of: bytes,
            "a manifest without `manifestVersion` cannot have a lock; add the version with `backplane convert --upgrade`"
        )
        if root["lock"] == lock.value { return bytes }
        root["lock"] = lock.value
        let format = ManifestFormat(of: bytes)
        guard format == .json else { return try ManifestValue.dictionary(root).encoded(as: format) }
        let text = JSONEdit.set(lock.value, ManifestShape.other, forKey: "lock", in: ManifestPath(), of: bytes)
        return try checked(
            text, root, "the lock could not be inserted into the text; add `\"lock\": {}` and try again")
    }

    /// Returns the root of a manifest in the `backplane` dialect.
    private static func root(of bytes: Data, _ refusal: String) throws(BackplaneError) -> [String: ManifestValue] {
        guard case .dictionary(let root) = try ManifestValue(parsing: bytes), root["manifestVersion"] != nil else {
            throw BackplaneError(.manifestUnsupported, refusal)
        }
        return root
    }

    /// Returns an edited text if it reads as the expected root.
    private static func checked(_ text: Data?, _ root: [String: ManifestValue], _ refusal: String)
        throws(BackplaneError) -> Data
    {
        guard let text, try ManifestValue(parsing: text) == .dictionary(root) else {
            throw BackplaneError(.manifestUnwritable, refusal)
        }
        return text
    }
}
