package import Backplane

/// A library that has passed every check and lies ready in the load folder. Nothing of it has run.
package struct LibraryFile: Sendable {
    /// Where it was built.
    package let path: String
    /// The copy that will be loaded.
    package let copy: String
    /// The file at ``path`` when it was copied: one that differs has been written since.
    package let status: FileStatus
    package let identity: LibraryIdentity
    /// What of the copy no code needs that runs: symbols and debug information.
    let unmapped: [Range<Int>]

    /// The one function that a plugin exports.
    package static let entry = "backplane_plugin_entry_v1"
    /// In bytes: far beyond any real library, and little enough to hold in memory while it is checked.
    package static let maximumSize = 1 << 30

    /// Loads the copy: from here on the plugin's code runs.
    package func load() throws(BackplaneError) -> DynamicLibrary {
        do throws(BackplaneError) {
            return try DynamicLibrary(loading: copy)
        } catch {
            throw BackplaneError(error.code, error.message, at: path)
        }
    }
}
