public import Backplane
import BenchmarkSeries

/// The second edition of the plugin of series.
public struct SecondSeriesPlugin: Plugin {
    public static let id = SeriesComponents.plugin
    public static let version: Version = "2.0.0"

    public static func register(in registrar: inout Registrar) { SeriesComponents.register(in: &registrar) }
}
