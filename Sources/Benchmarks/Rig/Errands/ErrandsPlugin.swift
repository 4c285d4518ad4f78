import Backplane
public import CBackplane

/// A plugin whose components have work in progress when they are swapped: long calls, exchanges and a timer.
struct ErrandsPlugin: Plugin {
    static let id = "org.backplane.benchmark-errands"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(LodgeManager.self)
        registrar.add(ErrandManager.self)
        registrar.add(ErrandCommunication.self)
        registrar.add(TimekeeperManager.self)
    }
}

/// The library's entry function, which the host calls once after loading the library.
@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    ErrandsPlugin.enter(offer, answer)
}
