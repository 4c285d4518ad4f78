package import Backplane
package import BackplaneBoundary

extension LibraryFile {
    /// Loads the copy and asks the plugin what it brings: its code runs, and of that no more than constructors and the entry.
    ///
    /// - Throws: why it cannot be loaded, or why what it answers cannot be believed, at the library's path.
    package func describe() throws(BackplaneError) -> PluginDescription {
        try describe(load())
    }

    /// The same for one that has been loaded.
    package func describe(_ library: DynamicLibrary) throws(BackplaneError) -> PluginDescription {
        let entry = unsafeBitCast(try library.symbol(Self.entry), to: PluginDescription.Entry.self)
        do throws(BackplaneError) {
            let description = try PluginDescription(asking: entry, getInterface: HostInterfaces.get)
            try identity.requireAgreement(with: description)
            return description
        } catch {
            throw BackplaneError(error.code, error.message, at: path, causes: error.causes)
        }
    }
}
