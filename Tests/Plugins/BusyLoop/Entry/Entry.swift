import Backplane
import BusyLoopModule
public import CBackplane

@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    BusyLoopPlugin.enter(offer, answer)
}
