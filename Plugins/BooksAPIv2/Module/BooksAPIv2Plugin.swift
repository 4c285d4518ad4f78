public import Backplane

/// Version 2 of the books' API.
public struct BooksAPIv2Plugin: Plugin {
    public static let id = "org.backplane.books-api"
    public static let version: Version = "2.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(BooksService.self)
    }
}
