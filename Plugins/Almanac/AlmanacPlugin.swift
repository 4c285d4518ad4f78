public import Backplane

/// The smallest complete example: a plugin with one component of every role.
public struct AlmanacPlugin: Plugin {
    /// The identifier that distinguishes this plugin from all others.
    public static let id = "org.backplane.almanac"
    /// The plugin's version, which its components inherit.
    public static let version: Version = "1.0.0"

    /// Adds the plugin's component classes to the registrar.
    public static func register(in registrar: inout Registrar) {
        registrar.add(AlmanacManager.self)
        registrar.add(AlmanacStore.self)
        registrar.add(AlmanacCommunication.self)
        registrar.add(EventFeedService.self)
    }
}
