import Backplane

/// A library of contracts, which several plugins import, that `backplane new contracts` adds to a package.
struct NewContracts: Sendable {
    var name: NewName
    var package: PackageFolder
    /// A function that returns the dependency on Backplane; it is called only if the package has none yet.
    var backplane: @Sendable () throws(BackplaneError) -> BackplanePackage

    /// The name of the library and its target.
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
                .newExists, "the package already has `\(library)`; choose another name", at: "Package.swift")
        }
        var blueprint = Blueprint(
            files: [],
            next: commands.enter(package: package.root) + [commands.build, commands.addManager(contracts: name.text)])
        blueprint.add("\(places.folder)/\(library).swift", ManagerLayers(name).contractsText)
        try blueprint.requireNew(in: package.root)
        try package.requireRoom(for: [target])
        blueprint.paste([TargetText.library(library)], into: "products")
        blueprint.paste(added.map { [$0.dependency] } ?? [], into: "dependencies")
        blueprint.paste([target.text], into: "targets")
        return blueprint
    }
}
