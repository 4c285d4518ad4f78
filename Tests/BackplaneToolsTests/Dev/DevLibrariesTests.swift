import Backplane
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

/// Which changes of the application are told as those of other commands.
struct ChangesOfOthersTests {
    private static func report(_ number: Int) -> ChangeReport {
        var report = ChangeReport(.changed)
        report.callsHeld = number
        return report
    }
    private let own = Self.report(1), other = HostEvent.Kind.applied(report: Self.report(2))
    private var ownEvent: HostEvent.Kind { .swapped(report: own) }

    @Test func `an own change is not told, whether its event or its answer comes first`() {
        for isEventFirst in [true, false] {
            var others = ChangesOfOthers(), told: [HostEvent.Kind] = []
            others.asked()
            if isEventFirst { told += others.take(ownEvent) }
            told += others.take(HostAnswer.swapped(own))
            if !isEventFirst { told += others.take(ownEvent) }
            #expect(told == [])
            #expect(others.take(other) == [other])
            #expect(others.take(ownEvent) == [ownEvent], "a second event is that of another change")
        }
    }

    @Test func `a change that comes during requests is told once all of them are answered`() {
        var others = ChangesOfOthers()
        others.asked()
        others.asked()
        #expect(others.take(ownEvent) == [] && others.take(other) == [])
        #expect(others.take(HostAnswer.generations([])) == [])
        #expect(others.take(HostAnswer.swapped(own)) == [other])
    }

    @Test func `what changes nothing is not told`() {
        var others = ChangesOfOthers()
        #expect(others.take(.applied(report: ChangeReport(.unchanged))) == [])
        #expect(others.take(.swapped(report: ChangeReport(.rolledBack))) == [], "the code is the same as before")
        #expect(others.take(.failed(operation: .swap, error: BackplaneError(.swapRefused, "no"))) == [])
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
