package import Backplane
import BackplaneExchange
import CBackplane
import Glibc

/// A library in the load folder that has passed all checks, with its files; none of its code has run.
package struct LibraryFile: Sendable {
    /// The path at which it was built.
    package let path: String
    /// The path of the copy to load.
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
    private(set) var reference: PluginReference?
    /// The path of the copy of its files; `nil` if it has none.
    private(set) var resources: String?

    /// The name of the one function that a plugin exports.
    package static let entry = "backplane_plugin_entry_v1"
    /// The maximum size in bytes, which is far beyond any real library but small enough to check in memory.
    package static let maximumSize = 1 << 30

    fileprivate init(
        path: String, copy: String, identity: LibraryIdentity, plugin: String?, generation: Int, unmapped: [Range<Int>],
        lasting: [String]
    ) {
        (self.path, self.copy, self.identity) = (path, copy, identity)
        (self.unmapped, self.lasting) = (unmapped, lasting)
        (self.plugin, self.generation) = (plugin, generation)
    }

    /// Checks the library at `path` and copies it into `folder`.
    ///
    /// The trust checks come first, followed by the copy and the checks of its contents.
    ///
    /// - Parameters:
    ///   - sha256: The library's digest in the manifest, as 64 hexadecimal digits.
    ///   - runtime: The Swift runtime with which the library must be compatible.
    ///   - generation: The same function as for ``LibraryCopy/checked(for:as:)``.
    /// - Throws: The first reason not to load the library, in which case the copy has been removed.
    package static func prepare(
        _ path: String, sha256: String? = nil, in folder: LoadFolder, runtime: SwiftRuntime = .ofThisProcess,
        as generation: (String?) -> (plugin: String?, number: Int) = { ($0, 1) }
    ) throws(BackplaneError) -> LibraryFile {
        let copy = try LibraryCopy(of: path, in: folder)
        do throws(BackplaneError) {
            try copy.requireDigest(sha256)
            return try copy.checked(for: runtime, as: generation)
        } catch {
            unlink(copy.path)
            throw error
        }
    }

    /// Checks the library at `path` as the manifest refers to it, and copies it and its files into `folder`.
    ///
    /// - Parameters:
    ///   - names: The names of resource folders found so far.
    ///   - generation: The same function as for ``LibraryCopy/checked(for:as:)``.
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

    /// The path for the copy of the library's files.
    var resourcesCopy: String { copy + ".resources" }

    /// Removes the copy and that of the library's files, because they are not loaded.
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
    /// It offers the plugin the services of a host.
    ///
    /// - Throws: The reason why its answer is invalid, located at the library's path.
    package func describe(_ library: DynamicLibrary) throws(BackplaneError) -> PluginDescription {
        let entry = unsafeBitCast(try library.symbol(Self.entry), to: PluginDescription.Entry.self)
        do throws(BackplaneError) {
            let description = try PluginDescription(asking: entry, getInterface: HostInterfaces.get)
            try identity.requireAgreement(with: description)
            LastWords.name(description.id, inCopyAt: copy)
            return description
        } catch {
            throw BackplaneError(error.code, error.message, at: path, causes: error.causes)
        }
    }

    /// Loads the copy and returns the description of its plugin.
    package func describe() throws(BackplaneError) -> PluginDescription { try describe(load()) }

    /// Returns whether the file at `path` has the same bytes as those loaded from `copy`.
    ///
    /// Storage that the copy has released since counts as equal. An unreadable file counts as different, so that
    /// loading it reports the reason.
    ///
    /// - Parameter unmapped: The ranges of the copy that may have been released (``LoadFolder/giveRoomBack(_:of:)``).
    static func isSame(_ path: String, as copy: String, unmapped: [Range<Int>]) -> Bool {
        guard let there = try? FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let here = try? FileDescriptor(opening: copy, O_RDONLY),
            let size = try? FileStatus(of: there).size, let own = try? FileStatus(of: here).size, size == own
        else { return false }
        var givenBack: [Range<Int>] = []
        for range in unmapped where here.isHole(range) { givenBack.append(range) }
        for range in givenBack.gaps(upTo: size) where !there.isSame(as: here, in: range) { return false }
        return true
    }
}

/// A private copy of a library that no other user can have placed, made before its contents are checked.
package struct LibraryCopy: Sendable {
    /// The path at which the library was built, and the path of the copy.
    private let source: String
    package let path: String
    /// The size in bytes.
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

    // MARK: Trust: no other user can have placed the file

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
            // Sockets cannot be opened, nor can devices where the mount excludes them.
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

    // MARK: Copying

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

    // MARK: Contents: a complete plugin for this machine

    /// Returns the SHA-256 of the copy, as hexadecimal digits.
    package func digest() throws(BackplaneError) -> String { try Self.digest(ofCopy: path, source) }

    /// Checks the copy against the manifest's SHA-256, if there is one.
    ///
    /// - Throws: `plugin.digest-mismatch`.
    package func requireDigest(_ sha256: String?) throws(BackplaneError) {
        try Self.requireDigest(sha256, ofCopy: path, source)
    }

    static func requireDigest(_ sha256: String?, ofCopy copy: String, _ path: String) throws(BackplaneError) {
        guard let sha256 else { return }
        let found = try digest(ofCopy: copy, path)
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

    private static func digest(ofCopy copy: String, _ path: String) throws(BackplaneError) -> String {
        let file = try opened(copy, path)
        do throws(SystemError) {
            return ContentDigest.sha256(of: try file.bytes(count: FileStatus(of: file).size)).hexadecimal
        } catch {
            throw unreadable(copy, error, path)
        }
    }

    private static func opened(_ copy: String, _ path: String) throws(BackplaneError) -> FileDescriptor {
        do throws(SystemError) {
            return try FileDescriptor(opening: copy, O_RDONLY | O_NOFOLLOW)
        } catch {
            throw unreadable(copy, error, path)
        }
    }

    private static func unreadable(_ copy: String, _ error: SystemError, _ path: String) -> BackplaneError {
        BackplaneError(.pluginUnreadable, "the copy \(copy) of the library cannot be read: \(error)", at: path)
    }

    /// Returns the image of the copy, of which only the accessed parts are read.
    package func image() throws(BackplaneError) -> ELFImage {
        let file = try Self.opened(path, source)
        do throws(ELFImage.Defect) {
            return try ELFImage(of: file, size: size)
        } catch {
            throw BackplaneError(error.code, error.text, at: source)
        }
    }

    /// Checks that an image exports the entry function.
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

    /// Returns the copy as a library that can be loaded, after checking and renaming it.
    ///
    /// - Parameter generation: A function that returns the plugin, if known, and the number of the new generation,
    ///   given the id in the library's identity.
    /// - Throws: The reason why the library is not a plugin for this host.
    package func checked(
        for runtime: SwiftRuntime = .ofThisProcess,
        as generation: (String?) -> (plugin: String?, number: Int) = { ($0, 1) }
    ) throws(BackplaneError) -> LibraryFile {
        let image = try image()
        try requireEntry(in: image)
        let identity = try identity(in: image, for: runtime), unmapped = image.unmapped()
        let (plugin, number) = generation(identity.id)
        let copy = LoadFolder.path(of: path, plugin: plugin, generation: number)
        guard rename(path, copy) == 0 else {
            throw BackplaneError(
                .pluginUnreadable, "the copy cannot be renamed to \(copy): \(SystemError.last)", at: source)
        }
        // A few pages are not worth it to be given back later.
        let isWorthIt = unmapped.reduce(0) { $0 + $1.count } >= 1 << 16
        return LibraryFile(
            path: source, copy: copy, identity: identity, plugin: plugin, generation: number,
            unmapped: isWorthIt ? unmapped : [], lasting: image.lasting)
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
