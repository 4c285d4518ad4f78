package import Backplane
package import FoundationEssentials
internal import Glibc

extension ManifestFile {
    /// Puts bytes in the place of a manifest, whose permissions stay; behind a symbolic link, in the place of what it leads to.
    ///
    /// - Throws: `manifest.unwritable`.
    package static func replace(_ path: String, with bytes: Data) throws(BackplaneError) {
        guard let resolved = realpath(path, nil) else { throw unwritable(path, SystemError.last) }
        defer { free(resolved) }
        let target = String(cString: resolved)
        do throws(SystemError) {
            let status = try FileStatus(at: target)
            guard status.kind == .file else { throw SystemError(EINVAL) }
            try FileReplacement.write(bytes, to: target, mode: status.mode, replaces: true)
        } catch {
            throw unwritable(path, error)
        }
    }

    /// Writes a new file, which everybody may read.
    ///
    /// - Parameter replaces: whether there may be one, whose place it takes.
    /// - Throws: `manifest.unwritable`.
    package static func create(_ path: String, with bytes: Data, replaces: Bool) throws(BackplaneError) {
        if let status = try? FileStatus(at: path) {
            guard replaces else { throw BackplaneError(.manifestUnwritable, "there is a file already; --force replaces it", at: path) }
            guard status.kind == .file else {
                throw BackplaneError(.manifestUnwritable, "there is \(status.kind.rawValue); only a regular file is replaced", at: path)
            }
        }
        do {
            try FileReplacement.write(bytes, to: path, mode: 0o644, replaces: replaces)
        } catch {
            throw unwritable(path, error)
        }
    }

    private static func unwritable(_ path: String, _ error: SystemError) -> BackplaneError {
        BackplaneError(.manifestUnwritable, "the manifest cannot be written: \(error)", at: path)
    }
}
