import Backplane
import BenchmarkSeries
public import CBackplane

/// The entry function of the first edition, which the host calls once after loading the library.
@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    SeriesPlugin.enter(offer, answer)
}
