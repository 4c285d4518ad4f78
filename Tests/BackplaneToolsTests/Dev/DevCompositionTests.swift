import BackplaneHost
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneTools

/// The files of a manifest that `backplane dev` watches.
struct DevCompositionTests {
    @Test func `a definition is swapped when any file that belongs to it changes`() throws {
        let files = try TestFolder(), folder = files.path
        try files.write(Array("{}".utf8), as: "Books.json")
        func service(_ configuration: [String: ManifestValue]) -> ManagerDefinition {
            ManagerDefinition(
                className: "M",
                communicationController: ComponentDefinition(
                    className: "C",
                    services: [
                        ComponentDefinition(
                            className: "WebService", propertyName: "s", configuration: configuration)
                    ]))
        }
        let manifest = Manifest(
            plugins: [],
            managers: [
                "A": service(["serviceName": "Books", "definition": .string(folder)]),
                "B": service(["serviceName": "Shops", "definition": .string(folder + "/own/shops.plist")]),
                "C": service([:]),
            ])
        let composition = DevComposition(ManifestDocument(manifest), [], pluginPaths: [])
        #expect(composition.definitions.count == 2)
        for name in ["Books.json", "Books.plist", "NCWebService+Books.plist", "NCWebService.plist"] {
            #expect(composition.definitions(changedBy: [folder + "/" + name]) == [folder + "/Books.json"])
        }
        let shops = folder + "/own/shops.plist"
        #expect(composition.definitions(changedBy: [shops, folder + "/Other.json"]) == [shops])
        #expect(composition.definitions(changedBy: [folder + "/own/Shops.json"]) == [])
    }
}
