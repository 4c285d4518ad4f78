import BackplaneHost
import BackplaneTestKit
import Foundation
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneTools

/// What a session remembers of libraries that change while the application is asked to swap them.
@Suite(.timeLimit(.minutes(2)))
struct DevLibrariesTests {
    private let observed: Observed
    private var path: String { observed.path("libA.so") }

    init() throws { observed = try Observed() }

    @Test func `a library that was replaced before it was loaded is not reported as unchanged afterwards`() throws {
        var libraries = DevLibraries()
        try observed.write("one", to: "libA.so")
        let isFirstNew = libraries.isNew(path, ProductStamp(library: path))
        libraries.areAsked([path])
        try observed.write("the second", to: "libA.so")
        // The change is noticed before the answer, which is about the second one already.
        let isSecondNew = libraries.isNew(path, ProductStamp(library: path))
        libraries.areSwapped([path])
        libraries.areAsked([path])
        let taken = libraries.areTaken([path])
        #expect(isFirstNew && isSecondNew && !taken.isNews)
    }

    @Test func `a library that is saved again as it was is reported`() throws {
        var libraries = DevLibraries()
        try observed.write("one", to: "libA.so")
        let isNew = libraries.isNew(path, ProductStamp(library: path))
        libraries.areAsked([path])
        libraries.areSwapped([path])
        libraries.areAsked([path])
        let taken = libraries.areTaken([path])
        #expect(isNew && taken.isNews)
    }
}

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

struct DevSettingsTests {
    private func settings(_ section: String, _ swaps: ChangeOptions? = nil) -> DevSettings {
        let text = #"{"manifestVersion": 1, "managers": {}, "swap": \#(section)}"#
        var settings = DevSettings(manifest: "backplane.json", environment: nil, pluginPaths: [], options: []) {
            ManifestDocument(parsing: Data(text.utf8))
        }
        settings.swaps = swaps
        return settings
    }

    @Test func `a swap waits for long calls no longer than the next save should, unless it is told to`() {
        let brief = DrainPolicy.upTo(.milliseconds(200), then: .retry(attempts: 100, within: .seconds(10)))
        #expect(settings("{}").swapOptions == ChangeOptions(drain: brief))
        #expect(
            settings("{}", ChangeOptions(allowsMissingMethods: true)).swapOptions
                == ChangeOptions(drain: brief, allowsMissingMethods: true))
        #expect(settings(#"{"retryFor": 60}"#).swapOptions == nil, "the manifest's, which the host knows")
        let told = ChangeOptions(drain: .upTo(.seconds(1), then: .cancel))
        #expect(settings("{}", told).swapOptions == told)
        #expect(settings(#"{"retryFor": 60}"#, told).swapOptions == told)
    }

    @Test func `a swap that long calls have refused comes later only where that is the policy`() {
        func waits(_ section: String, _ drain: DrainPolicy? = nil) -> Bool {
            settings(section, ChangeOptions(drain: drain)).waitsForLongCalls
        }
        #expect(waits("{}") && waits(#"{"retryFor": 60}"#))
        #expect(!waits(#"{"longCalls": "fail"}"#) && !waits(#"{"longCalls": "cancel"}"#))
        #expect(!waits("{}", .upTo(.seconds(1), then: .cancel)))
        #expect(waits(#"{"longCalls": "fail"}"#, .standard), "the options come before the manifest")
    }
}
