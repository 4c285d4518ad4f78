import Backplane

/// A manager that `backplane new manager` adds to an existing plugin, with optional controllers and service.
struct NewManager: Sendable {
    var layers: ManagerLayers
    var package: PackageFolder
    var plugin: PluginModule
    var manifest: ManifestEdit
    /// The library that the manager's contracts are added to, or `nil` if they belong to the plugin's module.
    var contracts: PackageFacts.PackageTarget?

    /// Returns the blueprint.
    ///
    /// - Throws: `new.exists`, or the error in the existing manifest.
    func blueprint(_ commands: NextCommands) throws(BackplaneError) -> Blueprint {
        let backplane = package.backplane ?? .own
        var blueprint = Blueprint(
            files: [],
            next: commands.enter(package: package.root) + [
                commands.build, commands.test, commands.call(layers, of: manifest.path),
            ])
        layers.addSources(to: &blueprint, in: package.folder(of: plugin.target))
        if let contracts {
            blueprint.add("\(package.folder(of: contracts))/\(layers.name)Contracts.swift", layers.contractsText)
            blueprint.paste(
                backplane.dependencies(on: missing(layers.contractProducts, of: contracts)), into: "dependencies",
                of: contracts.name)
        }
        blueprint.paste(
            missing(layers.contractModules, of: plugin.target).map(TargetText.name)
                + backplane.dependencies(on: missing(layers.products, of: plugin.target)), into: "dependencies",
            of: plugin.target.name)
        let tests = try testFolder(backplane, &blueprint)
        layers.addTests(to: &blueprint, in: tests, module: plugin.target.name, plugin: plugin.type)
        let lines = layers.classes.map { "registrar.add(\($0).self)" }
        blueprint.pastes.append(Paste(file: plugin.file, place: "register(in:)", owner: plugin.type, lines: lines))
        try blueprint.requireNew(in: package.root)
        try manifest.add(layers, library: plugin.library, to: &blueprint)
        return blueprint
    }

    private func missing(_ products: [String], of target: PackageFacts.PackageTarget) -> [String] {
        let present = Set(target.dependencies.map(\.name))
        return products.filter { !present.contains($0) }
    }

    /// Returns the folder of the plugin's tests, and adds a test target if there is none.
    private func testFolder(_ backplane: BackplaneProducts, _ blueprint: inout Blueprint) throws(BackplaneError)
        -> String
    {
        let products = layers.testProducts, module = plugin.target.name
        let tests = package.facts.targets.filter { $0.type == "test" && $0.dependencies.contains { $0.name == module } }
        // In the Backplane package, many test targets depend on several plugins.
        let own = tests.first { $0.name.hasPrefix(plugin.library) } ?? tests.first
        if let own {
            blueprint.paste(
                missing(layers.contractModules, of: own).map(TargetText.name)
                    + backplane.dependencies(on: missing(products, of: own)), into: "dependencies", of: own.name)
            return package.folder(of: own)
        }
        let name = "\(module)Tests"
        let target = TargetText(
            kind: .testTarget, name: name,
            dependencies: ([module] + layers.contractModules).map(TargetText.name)
                + backplane.dependencies(on: products))
        try package.requireRoom(for: [target])
        blueprint.paste([target.text], into: "targets")
        return "\(package.places(for: name).testHolder)/\(name)"
    }
}
