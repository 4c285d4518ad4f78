import Backplane
import BackplaneDefinitions
import BackplaneNetwork
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// The page on definitions (docs/definitions.md), as far as it describes components without code.
@Suite(.timeLimit(.minutes(5)))
struct DefinitionComponentPageTests {
    private let section: String

    init() throws {
        let text = try String(contentsOf: Page.root.appending(path: "docs/definitions.md"), encoding: .utf8)
        section = try #require(text.components(separatedBy: "## Components without code\n").last)
    }

    @Test func `the page has the keys of the configuration, and says which are mandatory`() {
        let rows = section.components(separatedBy: "\n").drop { !$0.hasPrefix("|---") }.dropFirst().prefix {
            $0.hasPrefix("|")
        }
        let described = rows.map { row in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return "\(cells[0]) \(cells[2])"
        }
        let configuration = DefinedService.Configuration(serviceName: "", baseURL: "")
        let keys = Mirror(reflecting: configuration).children.map { key, value in
            "`\(key ?? "")` \(value is String ? "yes" : "no")"
        }
        #expect(described.sorted() == keys.sorted())
    }

    @Test func `the example is a service of a communication controller`() async throws {
        let blocks = section.components(separatedBy: "```json\n").dropFirst()
        let services = try #require(blocks.first { $0.hasPrefix("\"services\"") }?.components(separatedBy: "```").first)
        // The contract and the wire of the example are not those of the test's components.
        let example = services.replacing("PharmaciesAPI", with: "Pharmacies").replacing(
            #""propertyName": "pharmacies""#, with: #""propertyName": "service""#)
        let folder = try LoadingFixture.Folder(), server = PharmacyServer()
        _ = try folder.makeFolder("definitions")
        let path = try folder.write(Array(PharmacyHost.definition.utf8), as: "definitions/Pharmacies.json")
        let test = try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [],
             "network": {"credentials": {
               "health": {"type": "bearer", "hosts": ["health.example.org"], "secret": "token"}}},
             "managers": {"Pharmacies": {
               "className": "PharmacyManager",
               "communicationController": {"className": "PharmacyCommunication", \#(example)}}}}
            """#, linked: [LinkedPlugin(PharmacyPlugin.self)], in: folder
        ) { $0.executors = [server.executor] }
        #expect(await test.host.check().allSatisfy { $0.severity == .warning })
        #expect(await test.host.composition().plugins.last?.library == path)
        let pharmacies: Remote<Pharmacies> = try await test.host.manager("Pharmacies")
        #expect(try await pharmacies.all(Nothing()).map(\.name) == ["Löwen"])
        let request = try #require(server.requests.first)
        #expect(request.url == "https://health.example.org/v1/pharmacies")
        #expect(request.headers["Authorization"] == "Bearer token")
        await test.host.stop()
    }
}
