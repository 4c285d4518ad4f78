package import Backplane
package import BackplaneNetwork
import Glibc

extension LibraryFile {
    /// Checks the library at `path` and copies it into `folder`, in the order in which the steps stand in these files.
    ///
    /// - Parameters:
    ///   - sha256: what the manifest gives for the library, 64 hexadecimal digits.
    ///   - digest: computes it; `nil` in a host without cryptography.
    ///   - runtime: the Swift that it has to live with.
    /// - Throws: the first reason not to load it; the copy is then gone again.
    package static func prepare(
        _ path: String, sha256: String? = nil, in folder: LoadFolder, digest: (any ContentDigest)? = nil, runtime: SwiftRuntime = .ofThisProcess
    ) throws(BackplaneError) -> LibraryFile {
        let file = try open(path)
        let status = try status(of: file, path)
        try requireRegularFile(status, path)
        try requireTrustedOwner(status, path)
        try requireTrustedMode(status, path)
        try requireBoundedSize(status, path)
        let copy = folder.newCopyPath(for: FilePath.name(of: path))
        do throws(BackplaneError) {
            let bytes = try copyContents(of: file, status, to: copy, path)
            try requireDigest(sha256, of: bytes, digest, path)
            let image = try image(bytes, path)
            try requireEntry(image, path)
            let identity = try LibraryIdentity(of: image, at: path)
            try identity.requireABI(at: path)
            try runtime.require(for: identity, at: path)
            return LibraryFile(path: path, copy: copy, status: status, identity: identity)
        } catch {
            unlink(copy)
            throw error
        }
    }
}
