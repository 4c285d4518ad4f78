package import Backplane
package import BackplaneBoundary

/// What a library brings, for tools: it is offered the services that a host would offer it.
extension LibraryFile {
    /// Loads the copy and asks the plugin what it brings: its code runs, and of that no more than constructors and the entry.
    ///
    /// - Throws: why it cannot be loaded, or why what it answers cannot be believed, at the library's path.
    package func describe() throws(BackplaneError) -> PluginDescription {
        try describe(load())
    }

    /// The same for one that has been loaded.
    package func describe(_ library: DynamicLibrary) throws(BackplaneError) -> PluginDescription {
        try describe(library, HostInterfaces.get)
    }
}
