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
    /// Of its load folder.
    let remainders: Remainders

    /// The one function that a plugin exports.
    package static let entry = "backplane_plugin_entry_v1"
    /// In bytes: far beyond any real library, and little enough to hold in memory while it is checked.
    package static let maximumSize = 1 << 30

    /// Loads the copy: from here on the plugin's code runs. What the copy still lacks it gets in the background.
    package func load() throws(BackplaneError) -> DynamicLibrary {
        do throws(BackplaneError) {
            let library = try DynamicLibrary(loading: copy)
            remainders.fill(copy)
            return library
        } catch {
            throw BackplaneError(error.code, error.message, at: path)
        }
    }
}
