import Backplane
public import CBackplane

/// The second of two editions of one plugin, which are swapped in turn.
struct SecondPlugin: Plugin {
    static let id = "org.backplane.turnstile"
    static let version: Version = "2.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(TurnstileManager.self)
    }
}

/// The library's entry function, which the host calls once after loading the library.
@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    SecondPlugin.enter(offer, answer)
}
