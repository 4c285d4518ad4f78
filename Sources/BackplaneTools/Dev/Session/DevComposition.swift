import Backplane
import BackplaneHost

/// The products that a manifest needs, and the library files to which it refers.
struct DevComposition: Sendable, Hashable {
    /// The products that the manifest names, or all products if it has no list of plugins.
    let products: [DevPackage.Product]
    /// The libraries that the manifest names but that no package of this session builds.
    let others: [String]
    /// The paths at which missing libraries of the manifest may appear.
    let missing: Set<String>
    /// The definition files that the manifest serves without code.
    let definitions: Set<ManifestDocument.DefinitionPlace>

    /// Creates the composition of a manifest and packages.
    ///
    /// - Parameter pluginPaths: The folders in which the host searches for libraries.
    init(_ document: ManifestDocument, _ packages: [DevPackage], pluginPaths: [String]) {
        definitions = document.definitionPlaces
        let all = packages.flatMap(\.products),
            folder = document.path.map { FilePath.folder(of: FilePath.absolute($0)) }
        guard let references = document.manifest.plugins else {
            products = all
            let found = (try? LibraryLocator.libraries(in: pluginPaths)) ?? []
            others = found.map(FilePath.absolute).filter { path in !all.contains { $0.library == path } }
            missing = []
            return
        }
        var products: [DevPackage.Product] = [], others: [String] = [], missing: Set<String> = []
        let locator = LibraryLocator(manifestFolder: folder, pluginPaths: pluginPaths)
        for library in references.map(\.library) {
            if let product = all.first(where: { $0.isNamed(library, from: folder) }) {
                if !products.contains(product) { products.append(product) }
            } else if let path = try? locator.locate(library) {
                others.append(FilePath.absolute(path))
            } else {
                missing.formUnion(((try? locator.candidates(library)) ?? []).map(FilePath.absolute))
            }
        }
        (self.products, self.others, self.missing) = (products, others, missing)
    }

    var libraries: Set<String> { Set(products.map(\.library) + others) }

    /// Returns the definitions to swap after files have changed.
    func definitions(changedBy paths: Set<String>) -> Set<String> {
        Set(definitions.filter { !$0.files.isDisjoint(with: paths) }.map(\.definition))
    }
}

extension DevPackage.Product {
    /// Returns whether a manifest in the given folder refers to this product.
    fileprivate func isNamed(_ library: String, from folder: String?) -> Bool {
        if library.contains("/") { return FilePath.absolute(FilePath.join(folder ?? ".", library)) == self.library }
        return library == name || library == FilePath.name(of: self.library)
    }
}
