extension ManagerLayers {
    /// Returns the source of a test that loads the library through its manifest, as a host would.
    ///
    /// - Parameters:
    ///   - library: The name of the library in the manifest.
    ///   - module: The target that contains the plugin.
    ///   - manifest: The path of the manifest, relative to the test's file.
    func libraryTestText(library: String, module: String, manifest: String) -> String {
        let imports = importsContracts + "import Testing\n" + (contracts == nil ? "@testable import \(module)\n" : "")
        return """
            import Backplane
            import BackplaneHost
            import BackplaneTestKit
            import Foundation
            \(imports)
            /// Tests that load the library through the manifest, as a host would.
            @Suite(.timeLimit(.minutes(2)))
            struct \(library)LibraryTests {
                private static let manifest = URL(filePath: #filePath).appending(path: "../\(manifest)").standardized.path

            \(hasService ? serviceCall : greeting)
            }

            """
    }

    private var greeting: String {
        """
            @Test func `the library is loaded and greets`() async throws {
                // Without a folder, the library is looked up beside the tests, where SwiftPM puts it.
                try await TestHost.run(Manifest(contentsOf: Self.manifest), plugins: [], pluginPaths: []) { host in
                    let manager = try await host.manager("\(manager)", as: \(contract).self)
                    let greeting = try await manager.greet("Ada")
                    #expect(greeting == "Hello, Ada!")
                }
            }
        """
    }

    private var serviceCall: String {
        """
            @Test func `the library is loaded and its service reads items`() async throws {
                var manifest = try Manifest(contentsOf: Self.manifest)
                let url = "http://items.test/all"
                manifest.managers["\(manager)"]?.communicationController?.services[0].configuration = ["url": .string(url)]
                // Without a folder, the library is looked up beside the tests, where SwiftPM puts it.
                try await TestHost.run(manifest, plugins: [], pluginPaths: []) { host in
                    host.http.on("GET", url, .json([\(item)(id: "1", text: "one")]))
                    let manager = try await host.manager("\(manager)", as: \(contract).self)
                    let items = try await manager.items()
                    #expect(items == [\(item)(id: "1", text: "one")])
                }
            }
        """
    }
}
