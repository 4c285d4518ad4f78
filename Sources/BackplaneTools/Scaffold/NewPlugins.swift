import Backplane
import BackplaneHost

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

    func addFiles(to blueprint: inout Blueprint) throws(BackplaneError) {
        try layers.addSources(to: &blueprint, in: places.folder)
        try blueprint.addPlugin(name, classes: layers.classes, in: places.folder)
        try layers.addTests(to: &blueprint, in: places.testFolder, module: places.name, plugin: "\(name.text)Plugin")
        let own = layers.contracts == nil ? "@testable import \(places.name)\n" : ""
        blueprint.add(
            "\(places.testFolder)/\(name.text)LibraryTests.swift",
            text: try layers.text(
                "library-tests-\(layers.hasService ? "service" : "greeting").swift",
                [
                    "library": name.text, "manifest": "../../\(manifest)",
                    "imports": layers.importsContracts + "import Testing\n" + own,
                ]))
    }
}

/// The folders of a plugin and its tests in a package.
struct PluginPlaces: Sendable, Hashable {
    var name: String
    /// The folders that contain the folders of targets; plugins may have `Plugins` of their own.
    var sourceHolder = "Sources", testHolder = "Tests"

    var tests: String { name + "Tests" }
    var folder: String { "\(sourceHolder)/\(name)" }
    var testFolder: String { "\(testHolder)/\(tests)" }
    /// The path for the target's declaration, or `nil` if SwiftPM finds the folder without it.
    var path: String? { sourceHolder == "Plugins" ? folder : nil }
}

/// A plugin that `backplane new plugin` adds to an existing package.
struct NewPlugin: Sendable {
    var name: NewName
    var package: PackageFolder
    var manifest: ManifestEdit
    /// The library that the manager's contracts are added to, or `nil` if they belong to the plugin's module.
    var contracts: PackageFacts.PackageTarget?
    /// A function that returns the dependency on Backplane; it is called only if the package has none yet.
    var backplane: @Sendable () throws(BackplaneError) -> BackplanePackage

    /// Returns the blueprint.
    ///
    /// - Throws: `new.tools`, `new.exists` if the package has a target or product of that name, or the error in the
    ///   manifest.
    func blueprint(_ commands: NextCommands) throws(BackplaneError) -> Blueprint {
        let layers = ManagerLayers(name, contracts: contracts?.name)
        let added = try package.missingBackplane(backplane)
        let plugin = PluginParts(
            name: name, layers: layers, places: package.places(for: name.text),
            backplane: package.backplane ?? .package(added?.identity ?? "backplane"),
            manifest: manifest.path)
        var blueprint = Blueprint(
            files: [],
            next: commands.enter(package: package.root) + [
                commands.build, commands.test, commands.call(layers, of: manifest.path),
            ])
        try plugin.addFiles(to: &blueprint)
        if let contracts { try blueprint.addContracts(of: layers, to: contracts, in: package, plugin.backplane) }
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
                at: package.manifest)
        }
    }
}

/// A library of contracts for several plugins, which `backplane new contracts` adds to a package.
struct NewContracts: Sendable {
    var name: NewName
    var package: PackageFolder
    /// A function that returns the dependency on Backplane; it is called only if the package has none yet.
    var backplane: @Sendable () throws(BackplaneError) -> BackplanePackage

    private var library: String { "\(name.text)Contracts" }

    /// Returns the blueprint.
    ///
    /// - Throws: `new.tools`, or `new.exists` if the package has a target or product of that name.
    func blueprint(_ commands: NextCommands) throws(BackplaneError) -> Blueprint {
        let added = try package.missingBackplane(backplane)
        let products = package.backplane ?? .package(added?.identity ?? "backplane")
        let places = package.places(for: library)
        let target = TargetText(
            name: library, dependencies: products.dependencies(on: ["Backplane"]), path: places.path)
        guard package.facts.target(library) == nil, !package.facts.products.contains(where: { $0.name == library })
        else {
            throw BackplaneError(
                .newExists, "the package already has `\(library)`; choose another name", at: package.manifest)
        }
        var blueprint = Blueprint(
            files: [],
            next: commands.enter(package: package.root) + [commands.build, commands.addManager(contracts: name.text)])
        // A manager of the same name has the file `NAMEContracts.swift` for its contracts.
        try blueprint.add("\(places.folder)/Contracts.swift", "contracts.swift", ["name": name.text])
        try blueprint.requireNew(in: package.root)
        try package.requireRoom(for: [target])
        blueprint.paste([TargetText.library(library)], into: "products")
        blueprint.paste(added.map { [$0.dependency] } ?? [], into: "dependencies")
        blueprint.paste([target.text], into: "targets")
        return blueprint
    }
}

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
        try layers.addSources(to: &blueprint, in: package.folder(of: plugin.target))
        if let contracts { try blueprint.addContracts(of: layers, to: contracts, in: package, backplane) }
        blueprint.paste(
            plugin.target.missing(layers.contractModules).map(TargetText.name)
                + backplane.dependencies(on: plugin.target.missing(layers.products)), into: "dependencies",
            of: plugin.target.name)
        let tests = try testFolder(backplane, &blueprint)
        try layers.addTests(to: &blueprint, in: tests, module: plugin.target.name, plugin: plugin.type)
        let lines = layers.classes.map { "registrar.add(\($0).self)" }
        blueprint.pastes.append(Paste(file: plugin.file, place: "register(in:)", owner: plugin.type, lines: lines))
        try blueprint.requireNew(in: package.root)
        try manifest.add(layers, library: plugin.library, to: &blueprint)
        return blueprint
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
                own.missing(layers.contractModules).map(TargetText.name)
                    + backplane.dependencies(on: own.missing(products)), into: "dependencies", of: own.name)
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

extension Blueprint {
    /// Adds the contracts of a manager to a library.
    fileprivate mutating func addContracts(
        of layers: ManagerLayers, to library: PackageFacts.PackageTarget, in package: PackageFolder,
        _ backplane: BackplaneProducts
    ) throws(BackplaneError) {
        add("\(package.folder(of: library))/\(layers.name)Contracts.swift", text: try layers.contractsText)
        paste(
            backplane.dependencies(on: library.missing(layers.contractProducts)), into: "dependencies",
            of: library.name)
    }
}

extension PackageFacts.PackageTarget {
    /// Returns the names that are not among the target's dependencies.
    fileprivate func missing(_ names: [String]) -> [String] {
        let present = Set(dependencies.map(\.name))
        return names.filter { !present.contains($0) }
    }
}
