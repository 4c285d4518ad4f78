/// A package created by `backplane new app`: a program that embeds a host, and its first plugin.
///
/// The contracts between the program and its plugins are in a separate library, so that a second version of the service
/// is just another plugin that imports it.
struct NewApp: Sendable, Hashable {
    var name: NewName
    var backplane: BackplanePackage

    var folder: String { NewPackage(name: name, backplane: backplane).folder }

    func blueprint(_ commands: NextCommands) -> Blueprint {
        let manifest = NewPackage.manifest, contracts = "\(name.text)Contracts"
        let layers = ManagerLayers(name, hasService: true, contracts: contracts)
        let core = name.followed(by: "Core")
        let products = BackplaneProducts.package(backplane.identity)
        let plugin = PluginParts(
            name: core, layers: layers, places: PluginPlaces(name: core.text), backplane: products,
            manifest: manifest)
        var blueprint = Blueprint(
            files: [], next: [commands.enter(folder), commands.build, commands.test, commands.run(name.text)])
        let contractsTarget = TargetText(name: contracts, dependencies: products.dependencies(on: ["Backplane"]))
        let program = TargetText(
            kind: .executableTarget, name: name.text,
            dependencies: [TargetText.name(contracts)]
                + products.dependencies(on: ["Backplane", "BackplaneControl", "BackplaneHost", "BackplaneURLSession"]))
        blueprint.add(
            "Package.swift",
            PackageText.package(
                name.text, products: [plugin.product], dependency: backplane.dependency,
                targets: [contractsTarget, program] + plugin.targets))
        blueprint.add("Sources/\(contracts)/\(contracts).swift", layers.contractsText)
        blueprint.add("Sources/\(name.text)/Program.swift", ProgramText.program(layers))
        blueprint.add("Sources/\(name.text)/StopSignals.swift", ProgramText.stopSignals)
        plugin.addFiles(to: &blueprint)
        blueprint.add(manifest, layers.manifestText(library: core.text))
        layers.addSample(to: &blueprint, besideManifest: manifest)
        blueprint.add(
            "README.md",
            ReadmeText.app(
                name.text, plugin: core.text, commands: ["swift build", "swift test", "swift run \(name.text)"]))
        blueprint.add(".gitignore", PackageText.ignoredFiles)
        blueprint.add(".vscode/settings.json", EditorText.settings(backplane))
        blueprint.add(".vscode/tasks.json", EditorText.tasks)
        return blueprint
    }
}
