package import Backplane
package import BackplaneBoundary

/// The description of a library for tools, which offer it the same services as a host.
extension LibraryFile {
    /// Loads the copy and returns the plugin's description, which runs only its constructors and its entry function.
    ///
    /// - Throws: The reason why the library cannot be loaded or its description is invalid, located at its path.
    package func describe() throws(BackplaneError) -> PluginDescription {
        try describe(load())
    }

    /// Returns the description of a plugin whose library has been loaded.
    package func describe(_ library: DynamicLibrary) throws(BackplaneError) -> PluginDescription {
        try describe(library, HostInterfaces.get)
    }
}
