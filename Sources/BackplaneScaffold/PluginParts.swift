/// Everything that a new plugin consists of: its files, its targets and its product.
struct PluginParts: Sendable, Hashable {
    var name: NewName
    /// Its first manager.
    var layers: ManagerLayers
    var places: PluginPlaces
    /// How the package that it is for names the products of Backplane.
    var backplane: BackplaneProducts
    /// The manifest that it is in, from the top of the package.
    var manifest: String

    /// The product that hosts load.
    var product: String { TargetText.dynamicLibrary(name.text, target: places.entry) }

    var targets: [TargetText] {
        let contracts = layers.contracts.map { [TargetText.name($0)] } ?? []
        let module = TargetText.name(places.module)
        return [
            TargetText(
                name: places.module, dependencies: backplane.dependencies(on: layers.products) + contracts, path: places.modulePath),
            TargetText(
                name: places.entry, dependencies: [module] + backplane.dependencies(on: backplane.entryProducts), path: places.entryPath),
            TargetText(
                kind: .testTarget, name: places.tests,
                dependencies: [module] + contracts + backplane.dependencies(on: ["Backplane", "BackplaneHost", "BackplaneTestKit"])),
        ]
    }

    func addFiles(to blueprint: inout Blueprint) {
        layers.addSources(to: &blueprint, in: places.moduleFolder)
        blueprint.add("\(places.moduleFolder)/\(name.text)Plugin.swift", PluginText.plugin(name, classes: layers.classes))
        blueprint.add("\(places.entryFolder)/Entry.swift", PluginText.entry(name))
        layers.addTests(to: &blueprint, in: places.testFolder, module: places.module, plugin: "\(name.text)Plugin")
        let libraryTest = layers.libraryTestText(library: name.text, module: places.module, manifest: "../../\(manifest)")
        blueprint.add("\(places.testFolder)/\(name.text)LibraryTests.swift", libraryTest)
    }
}
