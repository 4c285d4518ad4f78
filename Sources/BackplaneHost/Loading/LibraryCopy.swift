package import Backplane
package import BackplaneNetwork
import Glibc

/// The copy of a library that nobody else could have put there, before it is known what it is.
package struct LibraryCopy: Sendable {
    /// Where the library was built, and what the file was like when it was copied.
    let source: (path: String, status: FileStatus)
    package let path: String
    private let sha256: String?

    /// Copies the library at `path` into `folder`.
    ///
    /// - Parameter sha256: what the manifest gives for it, if it gives one.
    /// - Throws: why it is not trusted, or cannot be copied.
    package init(of path: String, sha256: String? = nil, in folder: LoadFolder) throws(BackplaneError) {
        let file = try LibraryFile.open(path)
        let status = try LibraryFile.status(of: file, path)
        try LibraryFile.requireRegularFile(status, path)
        try LibraryFile.requireTrustedOwner(status, path)
        try LibraryFile.requireTrustedMode(status, path)
        try LibraryFile.requireBoundedSize(status, path)
        let copy = folder.newCopyPath(for: FilePath.name(of: path))
        do throws(BackplaneError) {
            try LibraryFile.copyContents(of: file, status, to: copy, path)
        } catch {
            unlink(copy)
            throw error
        }
        (source, self.path, self.sha256) = ((path, status), copy, sha256)
    }

    /// - Throws: when the copy has another SHA-256 than the manifest gives, if it gives one.
    package func requireDigest(_ digest: (any ContentDigest)?) throws(BackplaneError) {
        try LibraryFile.requireDigest(sha256, ofCopy: path, digest, source.path)
    }

    /// The copy as a library that can be loaded.
    ///
    /// - Parameter generation: the plugin whose library it is, as far as that is known, and which of its generations it will be; given the id
    ///   in its identity.
    /// - Throws: why it is no plugin for this host.
    package func checked(
        for runtime: SwiftRuntime = .ofThisProcess, as generation: (String?) -> (plugin: String?, number: Int) = { ($0, 1) }
    ) throws(BackplaneError) -> LibraryFile {
        let image = try LibraryFile.image(ofCopy: path, source.path)
        try LibraryFile.requireEntry(image, source.path)
        let identity = try LibraryIdentity(of: image, at: source.path)
        try identity.requireABI(at: source.path)
        try runtime.require(for: identity, at: source.path)
        let unmapped = try LibraryFile.unmapped(of: image, source.path), (plugin, number) = generation(identity.id)
        let copy = LoadFolder.path(of: path, plugin: plugin, generation: number)
        guard rename(path, copy) == 0 else { throw BackplaneError(.pluginUnreadable, "the copy cannot be renamed to \(copy): \(SystemError.last)", at: source.path) }
        return LibraryFile(path: source.path, copy: copy, status: source.status, identity: identity, unmapped: unmapped)
    }
}
