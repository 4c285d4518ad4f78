import Backplane
public import CBackplane

/// A small plugin that is loaded hundreds of times, from copies of its library that differ in the digits of ``id``.
///
/// The identifier is longer than the 15 bytes that Swift would store inline in the instructions.
struct SwarmPlugin: Plugin {
    static let id = "org.backplane.swarm-0000"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(SwarmManager.self)
    }
}

/// The library's entry function, which the host calls once after loading the library.
@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    SwarmPlugin.enter(offer, answer)
}
