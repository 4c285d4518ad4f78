public import Backplane

/// The plugin that decodes the books of version 1 of the books API for its definition.
public struct FlatBooksPlugin: Plugin {
    /// The identifier that distinguishes this plugin from all others.
    public static let id = "org.backplane.flat-books"
    /// The plugin's version, which its components inherit.
    public static let version: Version = "1.0.0"

    /// Adds the plugin's component class to the registrar.
    public static func register(in registrar: inout Registrar) {
        registrar.add(FlatBookSerializer.self)
    }
}
