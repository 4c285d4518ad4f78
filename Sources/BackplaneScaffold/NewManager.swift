import Backplane
import BackplanePackages
import BackplaneTerminal

/// `backplane new manager`: a manager, and the layers that are asked for, in a plugin that is there.
struct NewManager: Sendable {
    var layers: ManagerLayers
    var package: PackageFolder
    var plugin: PluginModule
    var manifest: ManifestEdit

    /// - Throws: `new.by-hand`; what is wrong with the manifest.
    func blueprint(_ commands: NextCommands) throws(BackplaneError) -> (Blueprint, PackageEdit) {
        let backplane = package.backplane ?? .own
        var edit = PackageEdit()
        var blueprint = Blueprint(files: [], next: commands.enter(package: package.root) + [commands.build, commands.test, commands.call(layers, of: manifest.path)])
        layers.addSources(to: &blueprint, in: package.folder(of: plugin.target))
        if let registered = plugin.registration.adding(layers.classes) {
            blueprint.change(plugin.file, from: plugin.text, to: registered)
        } else {
            let lines = plugin.registration.lines(adding: layers.classes).joined(separator: "; ")
            blueprint.next.insert("# by hand, into register(in:) of \(plugin.registration.plugin): \(lines)", at: 0)
        }
        edit.dependencies[plugin.target.name] = backplane.dependencies(on: missing(layers.products, of: plugin.target))
        let tests = testTarget(backplane, &edit)
        layers.addTests(to: &blueprint, in: tests, module: plugin.target.name, plugin: plugin.registration.plugin)
        try blueprint.requireNew(in: package.root)
        try package.requireRoom(for: edit.targets)
        edit.dependencies = edit.dependencies.filter { !$0.value.isEmpty }
        blueprint.change("Package.swift", from: package.text, to: try edit.applied(to: package.text))
        try manifest.add(layers, library: plugin.library, to: &blueprint)
        return (blueprint, edit)
    }

    private func missing(_ products: [String], of target: PackageFacts.Target) -> [String] {
        let present = Set(target.dependencies.map(\.name))
        return products.filter { !present.contains($0) }
    }

    /// The folder of the tests: those that the plugin has, or new ones.
    private func testTarget(_ backplane: BackplaneProducts, _ edit: inout PackageEdit) -> String {
        let products = layers.testProducts, module = plugin.target.name
        let tests = package.facts.targets.filter { $0.type == "test" && $0.dependencies.contains { $0.name == module } }
        // In this package many tests depend on many plugins.
        let own = tests.first { $0.name.hasPrefix(plugin.library) } ?? tests.first
        if let own {
            edit.dependencies[own.name] = backplane.dependencies(on: missing(products, of: own))
            return package.folder(of: own)
        }
        let name = "\(module)Tests"
        edit.targets = [
            TargetText(
                kind: .testTarget, name: name, dependencies: [TargetText.name(module)] + backplane.dependencies(on: products),
                settings: PackageSource(package.text).settings)
        ]
        return "\(package.places(for: name).testHolder)/\(name)"
    }
}
