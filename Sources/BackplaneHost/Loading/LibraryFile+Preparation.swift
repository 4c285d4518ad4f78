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
    ///   - generation: as for ``LibraryCopy/checked(for:as:)``.
    /// - Throws: the first reason not to load it; the copy is then gone again.
    package static func prepare(
        _ path: String, sha256: String? = nil, in folder: LoadFolder, digest: (any ContentDigest)? = nil, runtime: SwiftRuntime = .ofThisProcess,
        as generation: (String?) -> (plugin: String?, number: Int) = { ($0, 1) }
    ) throws(BackplaneError) -> LibraryFile {
        let copy = try LibraryCopy(of: path, sha256: sha256, in: folder)
        do throws(BackplaneError) {
            try copy.requireDigest(digest)
            return try copy.checked(for: runtime, as: generation)
        } catch {
            unlink(copy.path)
            throw error
        }
    }
}
