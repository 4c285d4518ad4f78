/// Everything that a new plugin consists of: its files, its targets and its product.
struct PluginParts: Sendable, Hashable {
    var name: NewName
    /// Its first manager.
    var layers: ManagerLayers
    var places: PluginPlaces
    /// How the package that it is for names the products of Backplane.
    var backplane: BackplaneProducts
    /// A name that stands for the settings of targets, where the package has one.
    var settings: String?
    /// The manifest that it is in, from the top of the package.
    var manifest: String

    /// The product that hosts load.
    var product: String { TargetText.dynamicLibrary(name.text, target: places.entry) }

    var targets: [TargetText] {
        let contracts = layers.contracts.map { [TargetText.name($0)] } ?? []
        let module = TargetText.name(places.module)
        return [
            TargetText(
                name: places.module, dependencies: backplane.dependencies(on: layers.products) + contracts, path: places.modulePath, settings: settings),
            TargetText(
                name: places.entry, dependencies: [module] + backplane.dependencies(on: backplane.entryProducts), path: places.entryPath, settings: settings),
            TargetText(
                kind: .testTarget, name: places.tests,
                dependencies: [module] + contracts + backplane.dependencies(on: ["Backplane", "BackplaneHost", "BackplaneTestKit"]), settings: settings),
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

/// How a package names the products of Backplane among the dependencies of its targets.
enum BackplaneProducts: Sendable, Hashable {
    /// It is the package Backplane.
    case own
    /// It depends on the package of this identity.
    case package(String)

    func dependencies(on products: [String]) -> [String] {
        products.map { product in
            switch self {
            case .own: TargetText.name(product)
            case .package(let identity): TargetText.product(product, of: identity)
            }
        }
    }

    /// What the target with the entry imports.
    fileprivate var entryProducts: [String] { self == .own ? ["Backplane", "CBackplane"] : ["Backplane"] }
}

extension ManagerLayers {
    /// A file for each component, and one for the contracts where they stand beside them.
    func addSources(to blueprint: inout Blueprint, in folder: String) {
        if contracts == nil { blueprint.add("\(folder)/\(name)Contracts.swift", contractsText) }
        blueprint.add("\(folder)/\(manager).swift", managerText)
        if hasStore { blueprint.add("\(folder)/\(store).swift", storeText) }
        if hasService {
            blueprint.add("\(folder)/\(communication).swift", communicationText)
            blueprint.add("\(folder)/\(service).swift", serviceText)
        }
    }

    func addTests(to blueprint: inout Blueprint, in folder: String, module: String, plugin: String) {
        blueprint.add("\(folder)/\(manager)Tests.swift", testText(module: module, plugin: plugin))
    }

    /// What the service reads until it has a server, beside the manifest.
    func addSample(to blueprint: inout Blueprint, besideManifest manifest: String) {
        guard hasService else { return }
        let folder = manifest.lastIndex(of: "/").map { manifest[...$0] } ?? ""
        blueprint.add(folder + sample, sampleText)
    }
}
