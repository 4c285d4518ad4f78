import Backplane
public import CBackplane

/// A small plugin that is loaded hundreds of times over, from copies of its library that are different plugins: in each one the
/// digits of ``id`` are others. It is longer than the 15 bytes that Swift would keep in the instructions.
struct SwarmPlugin: Plugin {
    static let id = "org.backplane.swarm-0000"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(SwarmManager.self)
    }
}

@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>) -> Int32 {
    SwarmPlugin.enter(offer, answer)
}
