public import Backplane

/// The plugin with the screens of loans and the flow of the application.
public struct LoansScreensPlugin: Plugin {
    /// The identifier that distinguishes this plugin from all others.
    public static let id = "org.backplane.loans-screens"
    /// The plugin's version, which its components inherit.
    public static let version: Version = "1.0.0"

    /// Adds the plugin's component classes to the registrar.
    public static func register(in registrar: inout Registrar) {
        registrar.add(LoansScreens.self)
        registrar.add(LoansFlow.self)
    }
}
