import Backplane
import BackplaneHost

/// A plugin that `backplane new plugin` adds to an existing package.
struct NewPlugin: Sendable {
    var name: NewName
    var package: PackageFolder
    var manifest: ManifestEdit
    /// Returns the dependency on Backplane; called only if the package has none yet.
    var backplane: @Sendable () throws(BackplaneError) -> BackplanePackage

    /// Returns the blueprint.
    ///
    /// - Throws: `new.tools`, `new.exists` if the package has a target or product of that name, or the error in the
    ///   manifest.
    func blueprint(_ commands: NextCommands) throws(BackplaneError) -> Blueprint {
        let layers = ManagerLayers(name), added = try package.missingBackplane(backplane)
        let plugin = PluginParts(
            name: name, layers: layers, places: package.places(for: name.text),
            backplane: package.backplane ?? .package(added?.identity ?? "backplane"),
            manifest: manifest.path)
        var blueprint = Blueprint(
            files: [],
            next: commands.enter(package: package.root) + [
                commands.build, commands.test, commands.call(layers, of: manifest.path),
            ])
        plugin.addFiles(to: &blueprint)
        try blueprint.requireNew(in: package.root)
        try requireNew(plugin)
        try package.requireRoom(for: plugin.targets)
        blueprint.paste([plugin.product], into: "products")
        blueprint.paste(added.map { [$0.dependency] } ?? [], into: "dependencies")
        blueprint.paste(plugin.targets.map(\.text), into: "targets")
        try manifest.add(layers, library: name.text, to: &blueprint)
        return blueprint
    }

    private func requireNew(_ plugin: PluginParts) throws(BackplaneError) {
        let products = package.facts.products.filter { $0.name == name.text }.map { "a product `\($0.name)`" }
        let targets = plugin.targets.compactMap { package.facts.target($0.name) }.map { "a target `\($0.name)`" }
        guard products.isEmpty, targets.isEmpty else {
            throw BackplaneError(
                .newExists,
                "the package already has \((products + targets).joined(separator: ", ")); choose another name",
                at: "Package.swift")
        }
    }
}
