package import Backplane
import Glibc

/// A library in the load folder that has passed all checks; none of its code has run.
package struct LibraryFile: Sendable {
    /// The path at which it was built.
    package let path: String
    /// The path of the copy to load.
    package let copy: String
    /// The status of the file at ``path`` when it was copied; a different status means that it has been written to
    /// since.
    package let status: FileStatus
    package let identity: LibraryIdentity
    /// The ranges of the copy that running code does not need: symbols and debug information.
    let unmapped: [Range<Int>]

    /// Removes the copy and that of the library's files, because they are not loaded.
    func discard() {
        unlink(copy)
        FileTree.remove(resourcesCopy)
    }

    /// The path for the copy of the library's files.
    var resourcesCopy: String { copy + ".resources" }

    /// The name of the one function that a plugin exports.
    package static let entry = "backplane_plugin_entry_v1"
    /// The maximum size in bytes, which is far beyond any real library but small enough to check in memory.
    package static let maximumSize = 1 << 30

    /// Loads the copy; from here on, the plugin's code runs.
    package func load() throws(BackplaneError) -> DynamicLibrary {
        do throws(BackplaneError) {
            return try DynamicLibrary(loading: copy)
        } catch {
            throw BackplaneError(error.code, error.message, at: path)
        }
    }
}
