import Backplane
import BackplaneBoundary
import CBackplane

extension LibraryFile {
    /// Returns the description of a loaded library's plugin; of its code, only the entry function runs.
    ///
    /// - Parameter getInterface: The function through which the plugin fetches the host's services.
    /// - Throws: The reason why its answer is invalid, located at the library's path.
    func describe(_ library: DynamicLibrary, _ getInterface: bp_get_interface) throws(BackplaneError)
        -> PluginDescription
    {
        let entry = unsafeBitCast(try library.symbol(Self.entry), to: PluginDescription.Entry.self)
        do throws(BackplaneError) {
            let description = try PluginDescription(asking: entry, getInterface: getInterface)
            try identity.requireAgreement(with: description)
            LastWords.name(description.id, inCopyAt: copy)
            return description
        } catch {
            throw BackplaneError(error.code, error.message, at: path, causes: error.causes)
        }
    }
}
