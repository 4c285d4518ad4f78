public import Backplane

/// The plugin of the library: its manager and the manager's two controllers.
public struct BookshelfPlugin: Plugin {
    /// The identifier that distinguishes this plugin from all others.
    public static let id = "org.backplane.bookshelf"
    /// The plugin's version, which its components inherit.
    public static let version: Version = "1.0.0"

    /// Adds the plugin's component classes to the registrar.
    public static func register(in registrar: inout Registrar) {
        registrar.add(LibraryManager.self)
        registrar.add(BookStore.self)
        registrar.add(LibraryCommunication.self)
    }
}
