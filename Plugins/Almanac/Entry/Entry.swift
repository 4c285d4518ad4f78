import AlmanacModule
import Backplane
public import CBackplane

/// The library's entry function, which the host calls once after loading the library.
///
/// - Parameters:
///   - offer: The host's side of the handshake.
///   - answer: The plugin's description, filled in on success.
/// - Returns: `BP_OK`, or `BP_UNIMPLEMENTED` if host and plugin have no ABI version in common.
@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    AlmanacPlugin.enter(offer, answer)
}
