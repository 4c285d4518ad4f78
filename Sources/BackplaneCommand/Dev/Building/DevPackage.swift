import BackplaneHost

/// A Swift package whose plugins are built while they are worked on.
struct DevPackage: Sendable, Hashable {
    /// A plugin's library, as a product of its package.
    struct Product: Sendable, Hashable {
        var package: String
        var name: String
        /// Where it lies once it is built.
        var library: String
        /// Its targets' own folders, and those of the packages beside it that it may be made of.
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

    /// - Parameter libraries: the folder that SwiftPM builds into.
    init(_ description: PackageDescription, libraries: String) {
        let path = FilePath.absolute(description.path)
        self.path = path
        let beside = description.dependencies.filter { $0.type == "fileSystem" }.compactMap(\.path).map(FilePath.absolute)
        products = description.products.filter { $0.type.library == ["dynamic"] }.map { product in
            let targets = description.targets.filter { $0.productMemberships?.contains(product.name) ?? false || product.targets.contains($0.name) }
            return Product(
                package: path, name: product.name, library: FilePath.join(libraries, "lib\(product.name).so"),
                folders: targets.map { FilePath.join(path, $0.path) } + beside,
                resources: targets.map { FilePath.join(libraries, "\(description.name)_\($0.name).resources") })
        }
    }
}

extension DevPackage.Product {
    /// Is it made of this file, or of what was in this folder?
    func isMade(of path: String) -> Bool {
        folders.contains { path == $0 || path.hasPrefix($0 + "/") || $0.hasPrefix(path + "/") }
    }
}
