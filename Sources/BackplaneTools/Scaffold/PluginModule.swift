import Backplane

/// A target of a package that contains a plugin to which components can be added.
struct PluginModule: Sendable {
    /// The plugin's library, as manifests name it.
    var library: String
    var target: PackageFacts.PackageTarget
    /// The file with the plugin's type, relative to the root of the package.
    var file: String
    /// The name of the type that conforms to `Plugin`.
    var type: String

    /// Returns the plugin of a package.
    ///
    /// - Parameter given: The name of a library or target, or `nil` for the only plugin of the package.
    /// - Throws: `new.package` if there is no such plugin, or if several match.
    static func find(_ given: String?, in package: PackageFolder) throws(BackplaneError) -> PluginModule {
        let all = package.facts.products.filter(\.isDynamicLibrary).compactMap { module(of: $0, in: package) }
        let fit = given.map { given in all.filter { $0.library == given || $0.target.name == given } } ?? all
        if fit.count == 1 { return fit[0] }
        let there =
            all.isEmpty
            ? "it has none; `backplane new plugin NAME` creates one" : "it has \(Blueprint.list(all.map(\.library)))"
        if let given {
            throw BackplaneError(
                .newPackage, "expected the name of a plugin of the package, found `\(given)`; \(there)",
                at: package.root)
        }
        throw BackplaneError(
            .newPackage,
            "expected one plugin in the package; \(there)\(all.isEmpty ? "" : "; choose one with --plugin NAME")",
            at: package.root)
    }

    private static func module(of product: PackageFacts.Product, in package: PackageFolder) -> PluginModule? {
        for target in product.targets.compactMap(package.facts.target) where target.type == "regular" {
            for file in package.sources(in: package.folder(of: target)) {
                guard let type = package.contents(of: file).flatMap(pluginType) else { continue }
                return PluginModule(library: product.name, target: target, file: file, type: type)
            }
        }
        return nil
    }

    /// Returns the type in a source that conforms to `Plugin`, or `nil` if there is none or several.
    static func pluginType(in text: String) -> String? {
        let types = text.matches(
            of: /^[ \t]*(?:@?\w+[ \t]+)*(?:struct|enum|class)\s+(\w+)\s*:[^{]*\bPlugin\b/.anchorsMatchLineEndings())
        return types.count == 1 ? String(types[0].output.1) : nil
    }
}
