public import Backplane
import BenchmarkSeries

/// The first edition of the plugin of series.
public struct FirstSeriesPlugin: Plugin {
    public static let id = SeriesComponents.plugin
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) { SeriesComponents.register(in: &registrar) }
}
