/// A package created by `backplane new package`, with a single plugin.
struct NewPackage: Sendable, Hashable {
    var name: NewName
    var backplane: BackplanePackage

    /// The folder of the package, named after the plugin.
    var folder: String { name.folder.map { $0 == "/" ? "/\(name.text)" : "\($0)/\(name.text)" } ?? name.text }

    static let manifest = "backplane.json"

    func blueprint(_ commands: NextCommands) -> Blueprint {
        let layers = ManagerLayers(name)
        let plugin = PluginParts(
            name: name, layers: layers, places: PluginPlaces(name: name.text),
            backplane: .package(backplane.identity),
            manifest: Self.manifest)
        let next = [commands.build, commands.test, commands.call(layers, of: Self.manifest)]
        var blueprint = Blueprint(files: [], next: [commands.enter(folder)] + next)
        blueprint.add(
            "Package.swift",
            PackageText.package(
                name.text, products: [plugin.product], dependency: backplane.dependency, targets: plugin.targets))
        plugin.addFiles(to: &blueprint)
        blueprint.add(Self.manifest, layers.manifestText(library: name.text))
        blueprint.add(
            "README.md",
            ReadmeText.package(
                layers, library: name.text, commands: ["swift test", NextCommands().call(layers, of: Self.manifest)]))
        blueprint.add(".gitignore", PackageText.ignoredFiles)
        blueprint.add(".vscode/settings.json", EditorText.settings(backplane))
        blueprint.add(".vscode/tasks.json", EditorText.tasks)
        return blueprint
    }
}
