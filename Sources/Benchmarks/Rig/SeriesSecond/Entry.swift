import Backplane
import BenchmarkSeries
public import CBackplane

/// The second edition of the plugin of series.
struct SecondSeriesPlugin: Plugin {
    static let id = SeriesPlugin.id
    static let version: Version = "2.0.0"

    static func register(in registrar: inout Registrar) { SeriesPlugin.register(in: &registrar) }
}

/// The entry function of the second edition, which the host calls once after loading the library.
@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    SecondSeriesPlugin.enter(offer, answer)
}
