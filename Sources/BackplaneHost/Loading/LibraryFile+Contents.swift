import Backplane
import BackplaneExchange
import Glibc

/// The copying and the checks after it: whether the library is a complete plugin for this machine.
extension LibraryFile {
    /// Copies the library to `copy`.
    static func copyContents(
        of file: borrowing FileDescriptor, _ status: FileStatus, to copy: String, _ path: String
    ) throws(BackplaneError) {
        let isCopied: Bool
        do throws(SystemError) {
            isCopied = try copyIfStill(file, status, to: copy)
        } catch {
            throw BackplaneError(.pluginUnreadable, "the library cannot be copied to \(copy): \(error)", at: path)
        }
        guard isCopied else {
            throw BackplaneError(
                .pluginUnreadable,
                "the library was changed while it was being copied; load it when the build has finished", at: path)
        }
    }

    /// Copies the library, or returns `false` if the file changed in the meantime.
    private static func copyIfStill(
        _ file: borrowing FileDescriptor, _ status: FileStatus, to copy: String
    ) throws(SystemError) -> Bool {
        let target = try FileDescriptor(opening: copy, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        guard try file.copyContents(status.size, to: target) == status.size else { return false }
        // The file may have grown in the meantime.
        return try FileStatus(of: file) == status
    }

    static func requireDigest(_ sha256: String?, ofCopy copy: String, _ path: String) throws(BackplaneError) {
        guard let sha256 else { return }
        let found = ContentDigest.sha256(of: try contents(ofCopy: copy, path)).hexadecimal
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

    /// Returns the image of the copy, of which only the accessed parts are read.
    static func image(ofCopy copy: String, _ path: String) throws(BackplaneError) -> ELFImage {
        let bytes: MappedBytes
        do throws(SystemError) {
            let file = try FileDescriptor(opening: copy, O_RDONLY | O_NOFOLLOW)
            bytes = try MappedBytes(of: file, size: FileStatus(of: file).size)
        } catch {
            throw unreadable(copy, error, path)
        }
        return try image(bytes, path)
    }

    static func image(_ bytes: MappedBytes, _ path: String) throws(BackplaneError) -> ELFImage {
        do throws(ELFImage.Defect) {
            return try ELFImage(bytes)
        } catch {
            throw BackplaneError(error.code, error.text, at: path)
        }
    }

    /// Returns the unmapped ranges of the copy; empty if they are too small to be worth releasing.
    static func unmapped(of image: ELFImage, _ path: String) throws(BackplaneError) -> [Range<Int>] {
        do throws(ELFImage.Defect) {
            let unmapped = try image.unmapped()
            return unmapped.reduce(0) { $0 + $1.count } < 1 << 16 ? [] : unmapped
        } catch {
            throw BackplaneError(error.code, error.text, at: path)
        }
    }

    /// Checks that the system's loader, which does not validate its input, stays inside the library.
    static func requireLoadable(_ image: ELFImage, _ path: String) throws(BackplaneError) {
        do throws(ELFImage.Defect) {
            try image.requireLoadable()
        } catch {
            throw BackplaneError(error.code, error.text, at: path)
        }
    }

    private static func contents(ofCopy copy: String, _ path: String) throws(BackplaneError) -> [UInt8] {
        do throws(SystemError) {
            let file = try FileDescriptor(opening: copy, O_RDONLY | O_NOFOLLOW)
            return try file.bytes(count: FileStatus(of: file).size)
        } catch {
            throw unreadable(copy, error, path)
        }
    }

    private static func unreadable(_ copy: String, _ error: SystemError, _ path: String) -> BackplaneError {
        BackplaneError(.pluginUnreadable, "the copy \(copy) of the library cannot be read: \(error)", at: path)
    }

    static func requireEntry(_ image: ELFImage, _ path: String) throws(BackplaneError) {
        guard image.defines(symbol: entry) else {
            throw BackplaneError(
                .pluginNoEntry,
                """
                a plugin must export the function `\(entry)`, but this library does not; \
                write it with `@c @implementation public` in Swift, or as backplane.h declares it in C
                """,
                at: path)
        }
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
        case .misleading(let what): "the library is damaged: \(what); rebuild it"
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
