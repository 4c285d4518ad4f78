import Backplane
import BackplaneHost
import BackplanePackages

/// `backplane new plugin`: one more plugin in a package that is there.
struct NewPlugin: Sendable {
    var name: NewName
    var package: PackageFolder
    var manifest: ManifestEdit
    /// Asked for where the package does not depend on Backplane yet.
    var backplane: @Sendable () throws(BackplaneError) -> BackplanePackage

    /// - Throws: `new.tools`; `new.exists` where the package has a target or a product of that name; `new.by-hand`; what is wrong with the manifest.
    func blueprint(_ commands: NextCommands) throws(BackplaneError) -> (Blueprint, PackageEdit) {
        let layers = ManagerLayers(name)
        var edit = PackageEdit()
        let plugin = PluginParts(
            name: name, layers: layers, places: package.places(for: name.text), backplane: try products(&edit),
            settings: PackageSource(package.text).settings, manifest: manifest.path)
        var blueprint = Blueprint(files: [], next: commands.enter(package: package.root) + [commands.build, commands.test, commands.call(layers, of: manifest.path)])
        plugin.addFiles(to: &blueprint)
        try blueprint.requireNew(in: package.root)
        if !(try isThere(plugin)) { (edit.products, edit.targets) = ([plugin.product], plugin.targets) }
        try package.requireRoom(for: edit.targets)
        blueprint.change("Package.swift", from: package.text, to: try edit.applied(to: package.text))
        try manifest.add(layers, library: name.text, to: &blueprint)
        return (blueprint, edit)
    }

    private func products(_ edit: inout PackageEdit) throws(BackplaneError) -> BackplaneProducts {
        if let products = package.backplane { return products }
        try requireTools()
        let backplane = try backplane()
        edit.packages = [backplane.dependency]
        return .package(backplane.identity)
    }

    /// Makes sure that SwiftPM lets the package say `traits:`, which is all that needs more than Backplane itself where it is depended on.
    private func requireTools() throws(BackplaneError) {
        let found = package.facts.toolsVersion
        guard found < Self.tools else { return }
        let language = found.major < Self.tools.major ? "; `swiftLanguageModes: [.v5]` behind its targets keeps them in Swift 5" : ""
        throw BackplaneError(
            .newTools,
            "expected the tools version 6.1 or a later one, which a dependency on Backplane without its traits needs, found \(found.major).\(found.minor); begin it with `// swift-tools-version: 6.1`, and enter the command again\(language)",
            at: FilePath.join(package.root, "Package.swift"))
    }

    private static let tools = Version(6, 1)

    /// Whether somebody has put the plugin's product and all of its targets in by hand.
    private func isThere(_ plugin: PluginParts) throws(BackplaneError) -> Bool {
        let names = plugin.targets.map(\.name), there = names.filter { package.facts.target($0) != nil }
        let isProduct = package.facts.products.contains { $0.name == name.text }
        if isProduct, there.count == names.count { return true }
        guard there.isEmpty, !isProduct else {
            let what = (isProduct ? ["a product `\(name.text)`"] : []) + there.map { "a target `\($0)`" }
            throw BackplaneError(.newExists, "the package has \(what.joined(separator: ", ")) already; take another name", at: "Package.swift")
        }
        return false
    }
}
