public import Backplane

/// Version 1 of the books' API.
public struct BooksAPIv1Plugin: Plugin {
    public static let id = "org.backplane.books-api"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(BooksService.self)
    }
}
