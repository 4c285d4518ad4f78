import Backplane
import BackplaneDefinitions
import CBackplane
import FoundationEssentials

/// The options for loading plugins into the process.
struct LoadingOptions: Sendable {
    /// The folders in which to look for libraries, after the manifest's own folder and before the program's.
    var pluginPaths: [String]
    /// The folder to which libraries are copied; `nil` means `$XDG_CACHE_HOME` or the temporary folder.
    var folder: String?
    /// The time that a library may take to load, and then again to register its classes.
    var limit: Duration
    /// The trials of libraries before they are loaded.
    var trials: LibraryTrials
    /// The function through which plugins fetch the host's services.
    var getInterface: bp_get_interface
    /// The function that calls a serializer, a manager, with a response; `nil` if no manager can be found.
    var serialize: Serialize? = nil

    typealias Serialize =
        nonisolated(nonsending) @Sendable (_ manager: String, ForeignResponse, Call) async throws(BackplaneError) ->
        Data
}
