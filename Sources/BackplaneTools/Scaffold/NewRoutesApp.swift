/// A package created by `backplane new app --routes`: a plugin that serves HTTP, which `backplane dev` and `run` host.
struct NewRoutesApp: Sendable, Hashable {
    var name: NewName
    var backplane: BackplanePackage

    func blueprint(_ commands: NextCommands) -> Blueprint {
        let text = RoutesText(name: name.text), places = PluginPlaces(name: name.text)
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
        var blueprint = Blueprint(files: [], next: next + [commands.dev, "curl \(RoutesText.url)/notes"])
        blueprint.add(
            "Package.swift",
            PackageText.package(
                name.text, products: [TargetText.dynamicLibrary(name.text, target: places.name)],
                dependency: backplane.dependency, targets: targets))
        blueprint.add("\(places.folder)/\(text.manager).swift", text.routes)
        blueprint.add("\(places.folder)/\(name.text)Plugin.swift", PluginText.plugin(name, classes: [text.manager]))
        blueprint.add("\(places.folder)/Resources/page.html", text.page)
        blueprint.add("\(places.testFolder)/\(text.manager)Tests.swift", text.tests)
        blueprint.add(NewPackage.manifest, text.manifest)
        blueprint.add("README.md", ReadmeText.routes(name.text, url: RoutesText.url))
        blueprint.add(".gitignore", PackageText.ignoredFiles)
        blueprint.add(".vscode/settings.json", EditorText.settings(backplane))
        blueprint.add(".vscode/tasks.json", EditorText.tasks)
        return blueprint
    }
}
