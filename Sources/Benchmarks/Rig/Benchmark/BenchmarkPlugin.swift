public import Backplane

/// The plugin that `backplane bench` calls.
public struct BenchmarkPlugin: Plugin {
    /// The identifier that distinguishes this plugin from all others.
    public static let id = "org.backplane.benchmark"
    /// The plugin's version, which its components inherit.
    public static let version: Version = "1.0.0"

    /// Adds the plugin's component classes to the registrar.
    public static func register(in registrar: inout Registrar) {
        registrar.add(BenchmarkManager.self)
        registrar.add(TallyManager.self)
        registrar.add(ManyMethodsManager.self)
    }
}
