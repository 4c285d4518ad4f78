/// The form in which a package's targets name the products of Backplane.
enum BackplaneProducts: Sendable, Hashable {
    /// The targets are in the Backplane package itself.
    case own
    /// The package depends on the package with this identity.
    case package(String)

    func dependencies(on products: [String]) -> [String] {
        products.map { product in
            switch self {
            case .own: TargetText.name(product)
            case .package(let identity): TargetText.product(product, of: identity)
            }
        }
    }
}
