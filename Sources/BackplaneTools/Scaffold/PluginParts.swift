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
    var product: String { TargetText.dynamicLibrary(name.text, target: places.name) }

    var targets: [TargetText] {
        let contracts = layers.contracts.map { [TargetText.name($0)] } ?? []
        return [
            TargetText(
                name: places.name, dependencies: backplane.dependencies(on: layers.products) + contracts,
                path: places.path),
            TargetText(
                kind: .testTarget, name: places.tests,
                dependencies: [TargetText.name(places.name)] + contracts
                    + backplane.dependencies(on: ["Backplane", "BackplaneHost", "BackplaneTestKit"])),
        ]
    }

    func addFiles(to blueprint: inout Blueprint) {
        layers.addSources(to: &blueprint, in: places.folder)
        blueprint.add("\(places.folder)/\(name.text)Plugin.swift", PluginText.plugin(name, classes: layers.classes))
        layers.addTests(to: &blueprint, in: places.testFolder, module: places.name, plugin: "\(name.text)Plugin")
        let libraryTest = layers.libraryTestText(
            library: name.text, module: places.name, manifest: "../../\(manifest)")
        blueprint.add("\(places.testFolder)/\(name.text)LibraryTests.swift", libraryTest)
    }
}
