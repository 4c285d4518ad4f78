import BackplaneHost

/// A Swift package whose plugins are built during development.
struct DevPackage: Sendable, Hashable {
    /// The library of a plugin, as a product of its package.
    struct Product: Sendable, Hashable {
        var package: String
        var name: String
        /// The path of the library after a build.
        var library: String
        /// The folders of the product's targets, and of the local packages on which it may depend.
        var folders: [String]
        /// The folders in which SwiftPM may place the product's resources.
        var resources: [String]
    }
    /// The absolute path of the package's folder.
    var path: String
    /// The dynamic libraries among the package's products.
    var products: [Product]
    /// The path of the package's manifest; after a change to it, the package is reread.
    var manifest: String { FilePath.join(path, "Package.swift") }

    /// Creates a package from its description.
    ///
    /// - Parameters:
    ///   - others: The local packages on which it depends, by their folders.
    ///   - libraries: The folder into which SwiftPM builds libraries.
    init(_ facts: PackageFacts, at path: String, others: [String: PackageFacts], libraries: String) {
        self.path = path
        let beside = others.sorted { $0.key < $1.key }.flatMap { path, facts in
            facts.folders(of: facts.targets.filter { $0.type != "test" }, in: path)
        }
        products = facts.products.filter(\.isDynamicLibrary).map { product in
            let targets = facts.targets(of: product)
            return Product(
                package: path, name: product.name, library: FilePath.join(libraries, "lib\(product.name).so"),
                folders: facts.folders(of: targets, in: path) + beside,
                resources: targets.map { FilePath.join(libraries, "\(facts.name)_\($0.name).resources") })
        }
    }
}

extension PackageFacts {
    fileprivate func folders(of targets: [PackageTarget], in path: String) -> [String] {
        targets.map { FilePath.absolute(FilePath.join(path, folder(of: $0, in: path))) }
    }
}

extension DevPackage.Product {
    /// An identifier that is unique among the products of all packages.
    var id: String { "\(package):\(name)" }

    /// Returns whether the product depends on a file, or on the contents of a folder.
    func isMade(of path: String) -> Bool {
        folders.contains { path == $0 || path.hasPrefix($0 + "/") || $0.hasPrefix(path + "/") }
    }
}
