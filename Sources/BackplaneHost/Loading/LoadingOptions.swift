import Backplane
import BackplaneNetwork
import CBackplane

/// The options of the room that brings plugins into the process.
struct LoadingOptions: Sendable {
    /// Folders to look for libraries in, after the manifest's own and before the program's.
    var pluginPaths: [String]
    /// Where libraries are copied to before they are loaded; `nil`: `$XDG_CACHE_HOME`, or the temporary folder.
    var folder: String?
    /// Checks a manifest's `sha256`.
    var digest: (any ContentDigest)?
    /// How long one library may take to be loaded, and then to say what it brings.
    var limit: Duration
    /// How plugins fetch the host's services.
    var getInterface: bp_get_interface
}
