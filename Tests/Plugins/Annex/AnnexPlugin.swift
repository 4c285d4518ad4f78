public import Backplane

/// Another plugin with turnstiles, to which a manager moves, and with a caller of turnstiles.
public struct AnnexPlugin: Plugin {
    public static let id = "org.backplane.benchmark-annex"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
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
