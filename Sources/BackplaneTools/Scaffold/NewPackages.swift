import Backplane

/// A package created by `backplane new package`, with a single plugin.
struct NewPackage: Sendable, Hashable {
    var name: NewName
    var backplane: BackplanePackage

    /// The folder of the package, named after the plugin.
    var folder: String { name.folder.map { $0 == "/" ? "/\(name.text)" : "\($0)/\(name.text)" } ?? name.text }

    static let manifest = "backplane.json"

    func blueprint(_ commands: NextCommands) throws(BackplaneError) -> Blueprint {
        let layers = ManagerLayers(name)
        let plugin = PluginParts(
            name: name, layers: layers, places: PluginPlaces(name: name.text),
            backplane: .package(backplane.identity), manifest: Self.manifest)
        let next = [commands.build, commands.test, commands.call(layers, of: Self.manifest)]
        var blueprint = Blueprint(files: [], next: [commands.enter(folder)] + next)
        blueprint.files = try Template.root(name, backplane, products: [plugin.product], targets: plugin.targets)
        try plugin.addFiles(to: &blueprint)
        blueprint.add(Self.manifest, text: layers.manifestText(library: name.text))
        try blueprint.add(
            "README.md", "readme-package.md",
            [
                "library": name.text,
                "commands": "swift test\n\(NextCommands().call(layers, of: Self.manifest))",
            ])
        return blueprint
    }
}

/// A package created by `backplane new app`: a program that embeds a host, and its first plugin.
///
/// The contracts between the program and its plugins are in a separate library, so that a second version of the service
/// is just another plugin that imports it.
struct NewApp: Sendable, Hashable {
    var name: NewName
    var backplane: BackplanePackage

    var folder: String { NewPackage(name: name, backplane: backplane).folder }

    func blueprint(_ commands: NextCommands) throws(BackplaneError) -> Blueprint {
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
        blueprint.files = try Template.root(
            name, backplane, products: [plugin.product], targets: [contractsTarget, program] + plugin.targets)
        blueprint.add("Sources/\(contracts)/\(contracts).swift", text: try layers.contractsText)
        blueprint.add("Sources/\(name.text)/Program.swift", text: try layers.text("program.swift"))
        try blueprint.add("Sources/\(name.text)/StopSignals.swift", "stop-signals.swift")
        try plugin.addFiles(to: &blueprint)
        blueprint.add(manifest, text: layers.manifestText(library: core.text))
        try layers.addSample(to: &blueprint, besideManifest: manifest)
        try blueprint.add(
            "README.md", "readme-app.md",
            [
                "name": name.text, "plugin": core.text,
                "commands": "swift build\nswift test\nswift run \(name.text)",
            ])
        return blueprint
    }
}

/// A package created by `backplane new app --routes`: a plugin that serves HTTP, which `backplane dev` and `run` host.
struct NewRoutesApp: Sendable, Hashable {
    var name: NewName
    var backplane: BackplanePackage

    func blueprint(_ commands: NextCommands) throws(BackplaneError) -> Blueprint {
        let manager = "\(name.text)Routes", places = PluginPlaces(name: name.text)
        let values = ["name": name.text, "address": Template.address]
        let products = BackplaneProducts.package(backplane.identity)
        let targets = [
            TargetText(
                name: places.name, dependencies: products.dependencies(on: ["Backplane", "BackplaneRoutes"]),
                resources: ["Resources/page.html"]),
            TargetText(
                kind: .testTarget, name: places.tests,
                dependencies: [TargetText.name(places.name)]
                    + products.dependencies(on: ["Backplane", "BackplaneRoutes", "BackplaneTestKit"])),
        ]
        let next = [commands.enter(NewPackage(name: name, backplane: backplane).folder), commands.test]
        var blueprint = Blueprint(
            files: [], next: next + [commands.dev, "curl http://\(Template.address)/notes"])
        blueprint.files = try Template.root(
            name, backplane, products: [TargetText.dynamicLibrary(name.text, target: places.name)], targets: targets)
        try blueprint.add("\(places.folder)/\(manager).swift", "routes.swift", values)
        try blueprint.addPlugin(name, classes: [manager], in: places.folder)
        try blueprint.add("\(places.folder)/Resources/page.html", "page.html", values)
        try blueprint.add("\(places.testFolder)/\(manager)Tests.swift", "tests-routes.swift", values)
        try blueprint.add(NewPackage.manifest, "routes.json", values)
        try blueprint.add("README.md", "readme-routes.md", values)
        return blueprint
    }
}

/// The definition of a web service created by `backplane new definition`.
struct NewDefinition: Sendable, Hashable {
    var name: NewName

    /// The path of the file, which a web service of that name looks for.
    private var path: String { "\(name.text).json" }

    func blueprint(_ commands: NextCommands) throws(BackplaneError) -> Blueprint {
        var blueprint = Blueprint(files: [], next: [commands.check(name.folder.map { "\($0)/\(path)" } ?? path)])
        try blueprint.add(path, "definition.json")
        return blueprint
    }
}
