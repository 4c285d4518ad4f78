public import Backplane

/// The plugin of the library's web interface, which can be swapped independently of the library.
public struct LibraryRoutesPlugin: Plugin {
    /// The identifier that distinguishes this plugin from all others.
    public static let id = "org.backplane.library-routes"
    /// The plugin's version, which its components inherit.
    public static let version: Version = "1.0.0"

    /// Adds the plugin's component class to the registrar.
    public static func register(in registrar: inout Registrar) {
        registrar.add(LibraryRoutes.self)
    }
}
