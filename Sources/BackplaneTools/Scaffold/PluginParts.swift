/// The parts of a new plugin: its files, targets and product.
struct PluginParts: Sendable, Hashable {
    var name: NewName
    /// The plugin's first manager.
    var layers: ManagerLayers
    var places: PluginPlaces
    /// The form in which the package names the products of Backplane.
    var backplane: BackplaneProducts
    /// The path of the manifest, relative to the root of the package.
    var manifest: String

    /// The library product, which hosts load.
    var product: String { TargetText.dynamicLibrary(name.text, target: places.entry) }

    var targets: [TargetText] {
        let contracts = layers.contracts.map { [TargetText.name($0)] } ?? []
        let module = TargetText.name(places.module)
        return [
            TargetText(
                name: places.module, dependencies: backplane.dependencies(on: layers.products) + contracts,
                path: places.modulePath),
            TargetText(
                name: places.entry, dependencies: [module] + backplane.dependencies(on: backplane.entryProducts),
                path: places.entryPath),
            TargetText(
                kind: .testTarget, name: places.tests,
                dependencies: [module] + contracts
                    + backplane.dependencies(on: ["Backplane", "BackplaneHost", "BackplaneTestKit"])),
        ]
    }

    func addFiles(to blueprint: inout Blueprint) {
        layers.addSources(to: &blueprint, in: places.moduleFolder)
        blueprint.add(
            "\(places.moduleFolder)/\(name.text)Plugin.swift", PluginText.plugin(name, classes: layers.classes))
        blueprint.add("\(places.entryFolder)/Entry.swift", PluginText.entry(name))
        layers.addTests(to: &blueprint, in: places.testFolder, module: places.module, plugin: "\(name.text)Plugin")
        let libraryTest = layers.libraryTestText(
            library: name.text, module: places.module, manifest: "../../\(manifest)")
        blueprint.add("\(places.testFolder)/\(name.text)LibraryTests.swift", libraryTest)
    }
}
