import Backplane
import BackplaneBoundary
import CBackplane

extension LibraryFile {
    /// Asks the plugin of a library that has been loaded what it brings: of its code no more than the entry runs.
    ///
    /// - Parameter getInterface: how it fetches the host's services.
    /// - Throws: why what it answers cannot be believed, at the library's path.
    func describe(_ library: DynamicLibrary, _ getInterface: bp_get_interface) throws(BackplaneError) -> PluginDescription {
        let entry = unsafeBitCast(try library.symbol(Self.entry), to: PluginDescription.Entry.self)
        do throws(BackplaneError) {
            let description = try PluginDescription(asking: entry, getInterface: getInterface)
            try identity.requireAgreement(with: description)
            return description
        } catch {
            throw BackplaneError(error.code, error.message, at: path, causes: error.causes)
        }
    }
}
