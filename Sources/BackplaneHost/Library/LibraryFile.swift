package import Backplane
import BackplaneExchange
import CBackplaneHost
import Glibc

/// A library in the load folder that has passed all checks, with its files; none of its code has run.
package struct LibraryFile: Sendable {
    /// The path at which it was built.
    package let path: String
    package let copy: String
    package let identity: LibraryIdentity
    /// The plugin, if known, and the number of the generation.
    let plugin: String?
    let generation: Int
    /// The ranges of the copy that running code does not need: symbols and debug information.
    let unmapped: [Range<Int>]
    /// The parts that a swap does not replace (``ELFImage/lasting``).
    let lasting: [String]
    /// The manifest's reference to it; `nil` if there is none.
    fileprivate(set) var reference: PluginReference? = nil
    /// The path of the copy of its files; `nil` if it has none.
    fileprivate(set) var resources: String? = nil

    package static let entry = "backplane_plugin_entry_v1"
    /// The maximum size in bytes, which is far beyond any real library but small enough to check in memory.
    package static let maximumSize = 1 << 30

    /// Checks the library at `path` and copies it into `folder`.
    ///
    /// The trust checks come first, followed by the copy and the checks of its contents.
    ///
    /// - Parameters:
    ///   - sha256: The library's digest in the manifest, as 64 hexadecimal digits.
    ///   - runtime: The Swift runtime with which the library must be compatible.
    ///   - generation: A function that returns the plugin, if known, and the number of the new generation, given the
    ///     id in the library's identity.
    /// - Throws: The first reason not to load the library, in which case the copy has been removed.
    package static func prepare(
        _ path: String, sha256: String? = nil, in folder: LoadFolder, runtime: SwiftRuntime = .ofThisProcess,
        as generation: (String?) -> (plugin: String?, number: Int) = { ($0, 1) }
    ) throws(BackplaneError) -> LibraryFile {
        let copy = try LibraryCopy(of: path, in: folder)
        do throws(BackplaneError) {
            try copy.requireDigest(sha256)
            let image = try copy.image()
            try copy.requireEntry(in: image)
            let identity = try copy.identity(in: image, for: runtime), unmapped = image.unmapped()
            let (plugin, number) = generation(identity.id)
            let name = LoadFolder.path(of: copy.path, plugin: plugin, generation: number)
            guard rename(copy.path, name) == 0 else {
                throw BackplaneError(
                    .pluginUnreadable, "the copy cannot be renamed to \(name): \(SystemError.last)", at: path)
            }
            // It is not worthwhile to release only a few pages later.
            let isWorthIt = unmapped.reduce(0) { $0 + $1.count } >= 1 << 16
            return LibraryFile(
                path: path, copy: name, identity: identity, plugin: plugin, generation: number,
                unmapped: isWorthIt ? unmapped : [], lasting: image.lasting)
        } catch {
            unlink(copy.path)
            throw error
        }
    }

    /// Prepares a library to which the manifest refers, and copies its files, too.
    ///
    /// - Parameter names: The names of resource folders found so far.
    static func prepare(
        _ path: String, _ reference: PluginReference?, in folder: LoadFolder, _ names: ResourceFolder.Names,
        as generation: (String?) -> (plugin: String?, number: Int)
    ) throws(BackplaneError) -> LibraryFile {
        var file = try prepare(path, sha256: reference?.sha256, in: folder, as: generation)
        do throws(BackplaneError) {
            file.resources = try ResourceFolder.copy(besides: file, named: reference?.resources, names)
        } catch {
            file.discard()
            throw error
        }
        file.reference = reference
        return file
    }

    var resourcesCopy: String { copy + ".resources" }

    /// Removes the copies of the library and of its files, because they are not loaded.
    func discard() {
        unlink(copy)
        FileTree.remove(resourcesCopy)
    }

    /// Loads the copy; from here on, the plugin's code runs.
    package func load() throws(BackplaneError) -> DynamicLibrary {
        do throws(BackplaneError) {
            return try DynamicLibrary(loading: copy)
        } catch {
            throw BackplaneError(error.code, error.message, at: path)
        }
    }

    /// Returns the description of a loaded library's plugin; of its code, only the entry function runs.
    ///
    /// The call offers the plugin the services of a host.
    ///
    /// - Throws: The reason why its answer is invalid, located at the library's path.
    package func describe(_ library: DynamicLibrary) throws(BackplaneError) -> PluginDescription {
        let entry = unsafeBitCast(try library.symbol(Self.entry), to: PluginDescription.Entry.self)
        do throws(BackplaneError) {
            let description = try PluginDescription(asking: entry, getInterface: HostInterfaces.get)
            try identity.requireAgreement(with: description)
            // The message about a crash needs the id, which the file name of a Swift plugin's first copy does not
            // contain.
            bph_name_plugin(copy, description.id)
            return description
        } catch {
            throw BackplaneError(error.code, error.message, at: path, causes: error.causes)
        }
    }

    package func describe() throws(BackplaneError) -> PluginDescription { try describe(load()) }
}

/// A private copy of a library that no other user can have placed, made before its contents are checked.
package struct LibraryCopy: Sendable {
    /// The path at which the library was built, and the path of the copy.
    private let source: String
    package let path: String
    package let size: Int

    /// Creates a copy of the library at `source` in `folder`.
    ///
    /// - Throws: The reason why the library is not trusted or cannot be copied.
    package init(of source: String, in folder: LoadFolder) throws(BackplaneError) {
        let file = try Self.open(source), status = try Self.trustedStatus(of: file, source)
        (self.source, path, size) = (source, folder.newCopyPath(for: FilePath.name(of: source)), status.size)
        do throws(BackplaneError) {
            try Self.copyContents(of: file, status, to: path, source)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Opens the file itself and refuses a symbolic link, which its owner could redirect.
    ///
    /// Links in the path to it are followed, because SwiftPM's `.build/debug` is a link.
    static func open(_ path: String) throws(BackplaneError) -> FileDescriptor {
        do throws(SystemError) {
            // Without O_NONBLOCK, opening a pipe in place of the library would block.
            return try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch {
            let status = try? FileStatus(at: path)
            if status?.kind == .link {
                throw BackplaneError(
                    .pluginUntrusted,
                    "a plugin must be a regular file, but this is a symbolic link; name the file that it points to",
                    at: path)
            }
            // Sockets cannot be opened, and neither can devices on a mount that excludes them.
            if let status { try requireRegularFile(status, path) }
            let code: BackplaneError.Code = error.number == ENOENT ? .pluginNotFound : .pluginUnreadable
            throw BackplaneError(code, "the library cannot be opened: \(error)", at: path)
        }
    }

    private static func requireRegularFile(_ status: FileStatus, _ path: String) throws(BackplaneError) {
        guard status.kind == .file else {
            throw BackplaneError(
                .pluginUntrusted,
                "a plugin must be a regular file, but this is \(status.kind.rawValue); name the library itself",
                at: path)
        }
    }

    /// Returns the status of a file that belongs to this user or root, and is not writable by everyone.
    ///
    /// The group may write to it, because on many systems each user has their own group and a umask of 002.
    static func trustedStatus(of file: borrowing FileDescriptor, _ path: String) throws(BackplaneError) -> FileStatus {
        let status: FileStatus, user = geteuid()
        do throws(SystemError) {
            status = try FileStatus(of: file)
        } catch {
            throw BackplaneError(.pluginUnreadable, "the library cannot be inspected: \(error)", at: path)
        }
        try requireRegularFile(status, path)
        guard status.owner == user || status.owner == 0 else {
            throw BackplaneError(
                .pluginUntrusted,
                """
                a plugin must belong to the user who runs the host (\(user)) or to root, but this one belongs to user \(status.owner); \
                chown it if you trust it
                """,
                at: path)
        }
        guard !status.isWritableByOthers else {
            throw BackplaneError(
                .pluginUntrusted,
                "everyone can write to this library (mode \(status.modeText)); chmod o-w it if you trust it", at: path)
        }
        guard status.size <= LibraryFile.maximumSize else {
            throw BackplaneError(
                .pluginUnreadable,
                "a plugin may have at most \(LibraryFile.maximumSize) bytes, but this one has \(status.size); strip it or split it",
                at: path)
        }
        return status
    }

    static func copyContents(
        of file: borrowing FileDescriptor, _ status: FileStatus, to copy: String, _ path: String
    ) throws(BackplaneError) {
        let isCopied: Bool
        do throws(SystemError) {
            let target = try FileDescriptor(opening: copy, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            // The file may have become shorter in the meantime, or grown.
            let count = try file.copyContents(status.size, to: target)
            let after = try FileStatus(of: file)
            isCopied = count == status.size && after == status
        } catch {
            throw BackplaneError(.pluginUnreadable, "the library cannot be copied to \(copy): \(error)", at: path)
        }
        guard isCopied else {
            throw BackplaneError(
                .pluginUnreadable,
                "the library was changed while it was being copied; load it when the build has finished", at: path)
        }
    }

    /// Checks the copy against the manifest's SHA-256, if there is one.
    ///
    /// - Throws: `plugin.digest-mismatch`.
    func requireDigest(_ sha256: String?) throws(BackplaneError) { try Self.requireDigest(sha256, of: path, source) }

    static func requireDigest(_ sha256: String?, of copy: String, _ path: String) throws(BackplaneError) {
        guard let sha256 else { return }
        let found = try digest(of: copy, path)
        guard found == sha256.lowercased() else {
            throw BackplaneError(
                .pluginDigestMismatch,
                """
                the manifest expects the SHA-256 \(sha256), but the library has \(found); \
                restore the library, or correct the manifest if you trust it
                """,
                at: path)
        }
    }

    /// Returns the SHA-256 of the copy, as hexadecimal digits.
    package func digest() throws(BackplaneError) -> String { try Self.digest(of: path, source) }

    private static func digest(of copy: String, _ path: String) throws(BackplaneError) -> String {
        do throws(SystemError) {
            let file = try FileDescriptor(opening: copy, O_RDONLY | O_NOFOLLOW)
            return ContentDigest.sha256(of: try file.bytes(count: FileStatus(of: file).size)).hexadecimal
        } catch {
            throw unreadable(copy, error, path)
        }
    }

    private static func unreadable(_ copy: String, _ error: SystemError, _ path: String) -> BackplaneError {
        BackplaneError(.pluginUnreadable, "the copy \(copy) of the library cannot be read: \(error)", at: path)
    }

    /// Returns the image of the copy; only the accessed parts are read.
    package func image() throws(BackplaneError) -> ELFImage {
        let file: FileDescriptor
        do throws(SystemError) { file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW) } catch {
            throw Self.unreadable(path, error, source)
        }
        do throws(ELFImage.Defect) { return try ELFImage(of: file, size: size) } catch {
            throw BackplaneError(error.code, error.text, at: source)
        }
    }

    package func requireEntry(in image: ELFImage) throws(BackplaneError) {
        guard image.defines(symbol: LibraryFile.entry) else {
            throw BackplaneError(
                .pluginNoEntry,
                """
                a plugin must export the function `\(LibraryFile.entry)`, but this library does not; \
                link the product `Backplane` in Swift, or write it as backplane.h declares it in C
                """,
                at: source)
        }
    }

    /// Returns the identity of an image, if it fits this host.
    package func identity(in image: ELFImage, for runtime: SwiftRuntime = .ofThisProcess) throws(BackplaneError)
        -> LibraryIdentity
    {
        let identity = try LibraryIdentity(of: image, at: source)
        try identity.requireABI(at: source)
        try runtime.require(for: identity, at: source)
        return identity
    }
}

extension ELFImage.Defect {
    fileprivate var code: BackplaneError.Code {
        if case .wrongMachine = self { .pluginWrongMachine } else { .pluginDamaged }
    }

    fileprivate var text: String {
        switch self {
        case .notELF: "a plugin is a shared library, but this file is not one (not ELF)"
        case .notLibrary(let type):
            "a plugin is a shared library, but this is \(Self.name(ofType: type)); link it with -shared"
        case .wrongMachine(let found):
            "this host needs libraries for \(ELFImage.machine.name), but this one is for \(found); build it for this machine"
        case .damaged(let what):
            "the library is incomplete: \(what); rebuild it, or wait until the build has finished"
        }
    }

    private static func name(ofType type: UInt16) -> String {
        switch type {
        case 1: "an object file"
        case 2: "a program"
        case 4: "a core dump"
        default: "an ELF file of type \(type)"
        }
    }
}
