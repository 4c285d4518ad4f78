import Backplane
public import CBackplane
import TimepieceModule

@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    TimepiecePlugin.enter(offer, answer)
}
