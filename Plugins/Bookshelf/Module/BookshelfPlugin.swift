public import Backplane

/// The library: its manager and that manager's two controllers.
public struct BookshelfPlugin: Plugin {
    public static let id = "org.backplane.bookshelf"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(LibraryManager.self)
        registrar.add(BookStore.self)
        registrar.add(LibraryCommunication.self)
    }
}
