public import Backplane

/// The smallest complete example: one component of every role.
public struct AlmanacPlugin: Plugin {
    public static let id = "org.backplane.almanac"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(AlmanacManager.self)
        registrar.add(AlmanacStore.self)
        registrar.add(AlmanacCommunication.self)
        registrar.add(EventFeedService.self)
    }
}
