package import Backplane
import Glibc

extension LibraryFile {
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
        let copy = try LibraryCopy(of: path, sha256: sha256, in: folder)
        do throws(BackplaneError) {
            try copy.requireDigest()
            return try copy.checked(for: runtime, as: generation)
        } catch {
            unlink(copy.path)
            throw error
        }
    }
}
