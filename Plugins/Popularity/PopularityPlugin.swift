public import Backplane

/// The plugin that counts borrowings by book.
public struct PopularityPlugin: Plugin {
    /// The identifier that distinguishes this plugin from all others.
    public static let id = "org.backplane.popularity"
    /// The plugin's version, which its components inherit.
    public static let version: Version = "1.0.0"

    /// Adds the plugin's component class to the registrar.
    public static func register(in registrar: inout Registrar) {
        registrar.add(PopularityManager.self)
    }
}
