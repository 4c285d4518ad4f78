/// What `swift package describe --type json` says of a package, as far as it matters here.
struct PackageDescription: Decodable, Sendable {
    struct Dependency: Decodable, Sendable {
        var type: String
        /// Of one that is a folder here.
        var path: String?
    }
    struct Product: Decodable, Sendable {
        struct Kind: Decodable, Sendable {
            /// `dynamic`, `static` or `automatic`; `nil`: it is no library.
            var library: [String]?
        }
        var name: String
        var targets: [String]
        var type: Kind
    }
    struct Target: Decodable, Sendable {
        var name: String
        /// From the package's folder.
        var path: String
        /// `library`, `test` and others.
        var type: String
        /// The products that it goes into.
        var productMemberships: [String]?

        private enum CodingKeys: String, CodingKey {
            case name, path, type, productMemberships = "product_memberships"
        }
    }
    var name: String
    var path: String
    var dependencies: [Dependency]
    var products: [Product]
    var targets: [Target]
}
