import BackplaneHost
import BackplanePackages

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
    ///   - others: the packages beside it that it depends on, by their folders.
    ///   - libraries: the folder that SwiftPM builds into.
    init(_ facts: PackageFacts, at path: String, others: [String: PackageFacts], libraries: String) {
        self.path = path
        let beside = others.sorted { $0.key < $1.key }.flatMap { path, facts in facts.folders(of: facts.targets.filter { $0.type != "test" }, in: path) }
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
    fileprivate func folders(of targets: [Target], in path: String) -> [String] {
        targets.map { FilePath.absolute(FilePath.join(path, folder(of: $0, in: path))) }
    }
}

extension DevPackage.Product {
    /// What it is called among the products of all packages.
    var id: String { "\(package):\(name)" }

    /// Is it made of this file, or of what was in this folder?
    func isMade(of path: String) -> Bool {
        folders.contains { path == $0 || path.hasPrefix($0 + "/") || $0.hasPrefix(path + "/") }
    }
}
