/// How a package names the products of Backplane among the dependencies of its targets.
enum BackplaneProducts: Sendable, Hashable {
    /// It is the package Backplane.
    case own
    /// It depends on the package of this identity.
    case package(String)

    func dependencies(on products: [String]) -> [String] {
        products.map { product in
            switch self {
            case .own: TargetText.name(product)
            case .package(let identity): TargetText.product(product, of: identity)
            }
        }
    }

    /// What the target with the entry imports.
    var entryProducts: [String] { self == .own ? ["Backplane", "CBackplane"] : ["Backplane"] }
}
