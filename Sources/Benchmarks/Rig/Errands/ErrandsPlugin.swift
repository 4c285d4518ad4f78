public import Backplane

/// A plugin whose components have work in progress when they are swapped: long calls, exchanges and a timer.
public struct ErrandsPlugin: Plugin {
    public static let id = "org.backplane.benchmark-errands"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(LodgeManager.self)
        registrar.add(ErrandManager.self)
        registrar.add(ErrandCommunication.self)
        registrar.add(TimekeeperManager.self)
    }
}
