import Backplane
import BackplaneHost

/// What a manifest needs built, and which files it is made of.
struct DevComposition: Sendable, Hashable {
    /// The products that the manifest names, or all where it names none.
    let products: [DevPackage.Product]
    /// Libraries that it names and no package here builds.
    let others: [String]
    /// Where one may come to lie that it names and that is nowhere.
    let missing: Set<String>

    /// - Parameter pluginPaths: as the host has them.
    init(_ document: ManifestDocument, _ packages: [DevPackage], pluginPaths: [String]) {
        let all = packages.flatMap(\.products), folder = document.path.map { FilePath.folder(of: FilePath.absolute($0)) }
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
}

extension DevPackage.Product {
    /// Does a manifest in this folder mean it?
    fileprivate func isNamed(_ library: String, from folder: String?) -> Bool {
        if library.contains("/") { return FilePath.absolute(FilePath.join(folder ?? ".", library)) == self.library }
        return library == name || library == FilePath.name(of: self.library)
    }
}
