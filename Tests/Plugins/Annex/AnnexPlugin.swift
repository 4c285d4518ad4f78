import Backplane
public import CBackplane

/// Another plugin with turnstiles, to which a manager moves, and with a caller of turnstiles.
struct AnnexPlugin: Plugin {
    static let id = "org.backplane.benchmark-annex"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(TurnstileManager.self)
        registrar.add(BarrierManager.self)
        registrar.add(WicketManager.self)
        registrar.add(UsherManager.self)
        registrar.add(DepotManager.self)
        registrar.add(TicketStore.self)
        registrar.add(TicketArchive.self)
        registrar.add(TicketOffice.self)
    }
}

/// The library's entry function, which the host calls once after loading the library.
@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    AnnexPlugin.enter(offer, answer)
}
