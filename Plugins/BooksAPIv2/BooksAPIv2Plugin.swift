public import Backplane

/// The plugin for version 2 of the books API.
public struct BooksAPIv2Plugin: Plugin {
    /// The identifier of the books API, shared by the plugins of all its versions.
    public static let id = "org.backplane.books-api"
    /// The plugin's version, by which a manifest chooses between versions of the API.
    public static let version: Version = "2.0.0"

    /// Adds the plugin's component classes to the registrar.
    public static func register(in registrar: inout Registrar) {
        registrar.add(BooksService.self)
    }
}
