public import Backplane

/// The components of the plugin of series, of which two editions are swapped in turn.
public enum SeriesComponents {
    /// The id of both editions.
    public static let plugin = "org.backplane.benchmark-series"

    /// Adds the component classes of both editions.
    public static func register(in registrar: inout Registrar) { registrar.add(SeriesManager.self) }
}
