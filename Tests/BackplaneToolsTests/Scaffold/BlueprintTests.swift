import TestFixtures
import Testing

@testable import BackplaneTools

/// What is made, as text: nothing is written here.
struct BlueprintTests {
    private let commands = NextCommands(tool: "backplane", folder: "/home/ada")
    private let backplane = BackplanePackage.folder("/home/ada/backplane")

    @Test func `a package`() throws {
        try expectSnapshot(
            NewPackage(name: NewName("Tides"), backplane: backplane).blueprint(commands).text, "new-made-package")
    }

    @Test func `a program`() throws {
        try expectSnapshot(
            NewApp(name: NewName("Harbour"), backplane: backplane).blueprint(commands).text, "new-made-app")
    }

    @Test func `an application that serves HTTP`() throws {
        try expectSnapshot(
            NewRoutesApp(name: NewName("Harbour"), backplane: backplane).blueprint(commands).text,
            "new-made-routes-app")
    }

    @Test(arguments: [(true, false, "dac"), (false, true, "service"), (true, true, "both")])
    func `a manager and its layers`(hasStore: Bool, hasService: Bool, name: String) throws {
        let layers = ManagerLayers(try NewName("Weather"), hasStore: hasStore, hasService: hasService)
        var blueprint = Blueprint(files: [])
        try layers.addSources(to: &blueprint, in: "Sources/Tides")
        try layers.addTests(to: &blueprint, in: "Tests/TidesTests", module: "Tides", plugin: "TidesPlugin")
        try layers.addSample(to: &blueprint, besideManifest: "manifests/tides.json")
        try expectSnapshot(blueprint.text + layers.manifestText(library: "Tides"), "new-made-manager-\(name)")
    }

    @Test func `a manager that gives a stream`() throws {
        let layers = ManagerLayers(try NewName("Weather"), hasStream: true)
        var blueprint = Blueprint(files: [], next: [commands.call(layers, of: "backplane.json")])
        try layers.addSources(to: &blueprint, in: "Sources/Tides")
        try layers.addTests(to: &blueprint, in: "Tests/TidesTests", module: "Tides", plugin: "TidesPlugin")
        try expectSnapshot(blueprint.text + layers.manifestText(library: "Tides"), "new-made-manager-stream")
    }

    @Test func `a package takes Backplane from a URL, from this version on`() throws {
        let backplane = try BackplanePackage(given: "https://example.org/ada/Boards.git") { "" }
        let text = try NewPackage(name: NewName("Tides"), backplane: backplane).blueprint(commands).files[0].text
        #expect(text.contains(".package(url: \"https://example.org/ada/Boards.git\", from: \"0."))
        #expect(text.contains(".product(name: \"Backplane\", package: \"boards\")"))
    }

    @Test(arguments: [("Tides", "Tides"), ("plugins/Tides", "plugins/Tides"), ("/Tides", "/Tides")])
    func `its folder is called as it is`(name: String, folder: String) throws {
        let package = NewPackage(name: try NewName(name, inFolder: true), backplane: backplane)
        #expect(package.folder == folder)
        #expect(try package.blueprint(commands).next.first == "cd \(folder)")
    }
}

extension Blueprint {
    fileprivate var text: String {
        files.map { "=== \($0.path)\n\($0.text)" }.joined() + next.map { "$ \($0)\n" }.joined()
    }
}
