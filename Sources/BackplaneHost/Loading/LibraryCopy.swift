package import Backplane
import Glibc

/// A private copy of a library that no other user can have placed, made before its contents are checked.
package struct LibraryCopy: Sendable {
    /// The path at which the library was built, and the status of that file when it was copied.
    let source: (path: String, status: FileStatus)
    package let path: String
    private let sha256: String?

    /// Creates a copy of the library at `path` in `folder`.
    ///
    /// - Parameter sha256: The digest in the manifest, if any.
    /// - Throws: The reason why the library is not trusted or cannot be copied.
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

    /// Checks the copy against the manifest's SHA-256, if there is one.
    ///
    /// - Throws: `plugin.digest-mismatch`.
    package func requireDigest() throws(BackplaneError) {
        try LibraryFile.requireDigest(sha256, ofCopy: path, source.path)
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
        let image = try LibraryFile.image(ofCopy: path, source.path)
        try LibraryFile.requireEntry(image, source.path)
        let identity = try LibraryIdentity(of: image, at: source.path)
        try identity.requireABI(at: source.path)
        try runtime.require(for: identity, at: source.path)
        try LibraryFile.requireLoadable(image, source.path)
        let unmapped = try LibraryFile.unmapped(of: image, source.path), (plugin, number) = generation(identity.id)
        let copy = LoadFolder.path(of: path, plugin: plugin, generation: number)
        guard rename(path, copy) == 0 else {
            throw BackplaneError(
                .pluginUnreadable, "the copy cannot be renamed to \(copy): \(SystemError.last)", at: source.path)
        }
        return LibraryFile(path: source.path, copy: copy, status: source.status, identity: identity, unmapped: unmapped)
    }
}
