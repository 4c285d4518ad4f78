import BackplaneHost

/// A Swift package whose plugins are built while they are worked on.
struct DevPackage: Sendable, Hashable {
    /// A plugin's library, as a product of its package.
    struct Product: Sendable, Hashable {
        var package: String
        var name: String
        /// Where it lies once it is built.
        var library: String
        /// Its targets' own folders, and those of the packages on this machine that it may be made of.
        var folders: [String]
        /// The folders that SwiftPM may put its files into.
        var resources: [String]
    }
    /// From the root on.
    var path: String
    /// The dynamic libraries among its products.
    var products: [Product]
    /// What a change of makes it another package.
    var manifest: String { FilePath.join(path, "Package.swift") }

    /// - Parameters:
    ///   - others: the packages that it depends on and that are folders here.
    ///   - libraries: the folder that SwiftPM builds into.
    init(_ description: PackageDescription, others: [PackageDescription], libraries: String) {
        let path = FilePath.absolute(description.path), beside = others.flatMap { other in other.folders { $0.type != "test" } }
        self.path = path
        products = description.products.filter { $0.type.library == ["dynamic"] }.map { product in
            let isOfProduct = { (target: PackageDescription.Target) in
                target.productMemberships?.contains(product.name) ?? false || product.targets.contains(target.name)
            }
            return Product(
                package: path, name: product.name, library: FilePath.join(libraries, "lib\(product.name).so"),
                folders: description.folders(of: isOfProduct) + beside,
                resources: description.targets.filter(isOfProduct).map { FilePath.join(libraries, "\(description.name)_\($0.name).resources") })
        }
    }
}

extension PackageDescription {
    /// The packages that it depends on and that are folders here.
    var neighbours: [String] { dependencies.filter { $0.type == "fileSystem" }.compactMap(\.path).map(FilePath.absolute) }

    fileprivate func folders(of isWanted: (Target) -> Bool) -> [String] {
        targets.filter(isWanted).map { FilePath.absolute(FilePath.join(path, $0.path)) }
    }
}

extension DevPackage.Product {
    /// Is it made of this file, or of what was in this folder?
    func isMade(of path: String) -> Bool {
        folders.contains { path == $0 || path.hasPrefix($0 + "/") || $0.hasPrefix(path + "/") }
    }
}
