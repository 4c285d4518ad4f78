import Backplane
public import CBackplane
import GluttonModule

@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    GluttonPlugin.enter(offer, answer)
}
