public import Backplane

/// The first of two editions of the plugin of series, which are swapped in turn.
public struct SeriesPlugin: Plugin {
    /// The identifier that distinguishes this plugin from all others.
    public static let id = "org.backplane.benchmark-series"
    /// The plugin's version, which its components inherit.
    public static let version: Version = "1.0.0"

    /// Adds the plugin's component classes to the registrar.
    public static func register(in registrar: inout Registrar) { registrar.add(SeriesManager.self) }
}
