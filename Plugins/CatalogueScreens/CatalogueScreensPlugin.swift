public import Backplane

/// The plugin of the catalogue's screens, which refers to screens of other plugins only by their identifiers.
public struct CatalogueScreensPlugin: Plugin {
    /// The identifier that distinguishes this plugin from all others.
    public static let id = "org.backplane.catalogue-screens"
    /// The plugin's version, which its components inherit.
    public static let version: Version = "1.0.0"

    /// Adds the plugin's component class to the registrar.
    public static func register(in registrar: inout Registrar) {
        registrar.add(CatalogueScreens.self)
    }
}
