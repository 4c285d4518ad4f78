public import Backplane

/// What `backplane bench` calls.
public struct YardstickPlugin: Plugin {
    public static let id = "org.backplane.yardstick"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(YardstickManager.self)
        registrar.add(TallyManager.self)
        registrar.add(LoomManager.self)
    }
}
