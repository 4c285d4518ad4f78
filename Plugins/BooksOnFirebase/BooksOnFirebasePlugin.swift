public import Backplane

/// The plugin that keeps the library in Firebase.
public struct BooksOnFirebasePlugin: Plugin {
    /// The plugin's identifier.
    public static let id = "org.backplane.books-on-firebase"
    /// The plugin's version.
    public static let version: Version = "1.0.0"

    /// Adds the plugin's component classes to the registrar.
    public static func register(in registrar: inout Registrar) {
        registrar.add(FirebaseBooks.self)
    }
}
