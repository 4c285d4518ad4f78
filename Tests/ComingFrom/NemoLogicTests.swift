import Backplane
import BackplaneDocuments
import BackplaneTestKit
import Challenge
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// Nemo Logic's seven test cases against a running host, with our outcomes: a located error where it gave nil.
@Suite(.timeLimit(.minutes(10)))
struct `Nemo Logic's cases on a running host` {
    static let names = [
        "ChallengeManager", "ChallengeManagerWithoutClassName", "ChallengeManagerWithoutDataController",
        "ChallengeManagerWithoutDataControllerClassName", "ChallengeManagerWithoutNetwork",
    ]

    /// The file in which the managers are, and where their plugins come from.
    struct Source: Sendable, CustomTestStringConvertible {
        var isPropertyList: Bool
        var origin: Origin
        var testDescription: String { "\(isPropertyList ? "a property list" : "JSON"), \(origin)" }
        static let all = [true, false].flatMap { list in
            Origin.allCases.map { Source(isPropertyList: list, origin: $0) }
        }

        func makeHost() throws -> TestHost {
            let folder = try TestFolder()
            guard isPropertyList else { return try TestHost(managers: Self.json, from: origin) }
            return switch origin {
            case .libraries, .encoded:
                try TestHost(
                    Self.propertyList, pluginPaths: [challengeFolder(in: folder)], in: folder, lanes: origin.lanes)
            case .linked: try TestHost(Self.propertyList, plugins: [ChallengePlugin.self])
            }
        }

        /// Where the managers are in the manifest.
        var root: String { isPropertyList ? "" : "/managers" }
    }

    private func surroundings(_ name: String, _ source: Source) async throws -> Surroundings {
        let test = try source.makeHost()
        let manager: Remote<Challenge> = try await test.host.manager(name)
        let surroundings = try await manager.surroundings()
        #expect(try manager.atStart() == surroundings, "each collaborator is complete when the manager is initialised")
        await test.host.stop()
        return surroundings
    }

    @Test(arguments: Source.all)
    func `3: a whole definition gives all four layers`(source: Source) async throws {
        #expect(
            try await surroundings("ChallengeManager", source)
                == Surroundings(
                    dataAccessController: "ChallengeDataAccess", communicationController: "ChallengeCommunication",
                    services: ["Challenge"]))
    }

    @Test func `managers are asked for by constants, and another dictionary replaces the configuration`() async throws {
        let test = try TestHost(Source.propertyList, plugins: [ChallengePlugin.self]), host = test.host
        let name: ManagerName<Challenge> = "ChallengeManager"
        #expect(try await host.manager(name).surroundings().services == ["Challenge"])
        try await host.apply(Manifest(dictionary: ["Second": ["className": "ChallengeManager"]]))
        #expect(try await host.manager("Second", as: Challenge.self).surroundings() == Surroundings())
        let error = await #expect(throws: BackplaneError.self) { try await host.manager(name) }
        #expect(error?.code == .unknownManager)
        await host.stop()
    }
}

/// A folder with the library of these managers alone: a manifest without `plugins` has a host look into every library
/// that it finds.
private func challengeFolder(in folder: TestFolder) throws -> String {
    let path = try folder.makeFolder("plugins")
    try FileManager.default.copyItem(
        atPath: BuiltProducts.folder + "/lib_Challenge.so", toPath: path + "/lib_Challenge.so")
    return path
}

extension `Nemo Logic's cases on a running host`.Source {
    fileprivate static let json = {
        let data = #""dataAccessController": {"className": "ChallengeDataAccess"}"#
        let network = """
            "communicationController": {"className": "ChallengeCommunication", "services": [
              {"className": "ChallengeService", "propertyName": "challengeService", "networkServiceConfiguration": {"NIFServiceName": "Challenge"}}]}
            """
        let manager = #""className": "ChallengeManager""#
        return """
            "ChallengeManager": {\(manager), \(data), \(network)},
            "ChallengeManagerWithoutNetwork": {\(manager), \(data)},
            "ChallengeManagerWithoutClassName": {\(data), \(network)},
            "ChallengeManagerWithoutDataControllerClassName": {\(manager), "dataAccessController": {}, \(network)},
            "ChallengeManagerWithoutDataController": {\(manager), \(network)}
            """
    }()

    fileprivate static let propertyList = {
        let data =
            "<key>dataAccessController</key><dict><key>className</key><string>ChallengeDataAccess</string></dict>"
        let network = """
            <key>communicationController</key><dict><key>className</key><string>ChallengeCommunication</string><key>services</key><array><dict>
            <key>className</key><string>ChallengeService</string><key>propertyName</key><string>challengeService</string>
            <key>networkServiceConfiguration</key><dict><key>NIFServiceName</key><string>Challenge</string></dict></dict></array></dict>
            """
        let manager = "<key>className</key><string>ChallengeManager</string>"
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict>
            <key>ChallengeManager</key><dict>\(manager)\(data)\(network)</dict>
            <key>ChallengeManagerWithoutNetwork</key><dict>\(manager)\(data)</dict>
            <key>ChallengeManagerWithoutClassName</key><dict>\(data)\(network)</dict>
            <key>ChallengeManagerWithoutDataControllerClassName</key><dict>\(manager)<key>dataAccessController</key><dict/>\(network)</dict>
            <key>ChallengeManagerWithoutDataController</key><dict>\(manager)\(network)</dict>
            </dict></plist>
            """
    }()
}

/// Zebra's README: services that are registered by the application, and resolved by class or protocol. Its screens are
/// in ZebraTests.swift.
@Suite(.timeLimit(.minutes(1)))
struct `Services of Zebra's README` {
    protocol Greeting: Sendable { func greet(_ name: String) -> String }
    struct Greeter: Greeting {
        func greet(_ name: String) -> String { "Hello, \(name)" }
    }
    class Store: @unchecked Sendable {}  // nothing in it changes
    final class UserStore: Store, @unchecked Sendable {}  // nothing in it changes
    struct Unknown: Sendable {}

    @Test func `a service is registered, and resolved by its class, a superclass or a protocol`() throws {
        let app = PluginHost(manifest: Manifest(managers: [:])), store = UserStore()
        app.services.register(Greeter())
        app.services.register(store)
        #expect(try app.services.resolve(Greeter.self).greet("Ann") == "Hello, Ann")
        #expect(try app.services.resolve((any Greeting).self).greet("Bob") == "Hello, Bob")
        #expect(try app.services.resolve(Store.self) === store)
        let error = #expect(throws: BackplaneError.self) { try app.services.resolve(Unknown.self) }
        #expect(error?.code == .unknownService)
    }

    @Test func `the service of a plugin is resolved by its contract`() async throws {
        let test = try TestHost(managers: #""First": {"className": "ChallengeManager"}"#, from: .linked)
        _ = try await test.host.manager("First", as: Challenge.self)
        let found = try await test.host.resolve(Challenge.self)
        #expect(try await found.surroundings() == Surroundings())
        await test.host.stop()
    }
}
