import Backplane
public import CBackplane

/// The first of two editions of one plugin, which are swapped in turn.
struct FirstPlugin: Plugin {
    static let id = "org.backplane.turnstile"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(TurnstileManager.self)
    }
}

/// The library's entry function, which the host calls once after loading the library.
@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    FirstPlugin.enter(offer, answer)
}
