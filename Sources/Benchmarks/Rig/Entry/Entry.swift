import Backplane
import BenchmarkModule
public import CBackplane

/// The library's entry function, which the host calls once after loading the library.
@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    BenchmarkPlugin.enter(offer, answer)
}
