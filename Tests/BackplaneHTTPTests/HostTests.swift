import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

/// What a host sends, by the manifest that is active.
@Suite(.timeLimit(.minutes(5)))
struct HostTests {
    @Test(arguments: [
        #""network": {"tls": {"127.0.0.1": {"minimum": "2.0"}}}"#, #""network": {"tls": []}"#, #""network": 1"#,
        #""store": {"damaged": "no"}"#, #"]"#,
    ])
    func `a manifest with a mistake in its sections fails every exchange, and none goes by the defaults`(
        section: String
    ) async throws {
        let server = try TestServer { $1.answer("204 No Content") }
        let text = #"{"manifestVersion": 1, "plugins": [], "managers": {}, \#(section)}"#
        let document = ManifestDocument(parsing: Data(text.utf8)), executor = Engine.urlSession.executor()
        let host = PluginHost(manifest: document, options: HostOptions(executors: [executor]))
        try await host.start(keepGoing: true)
        let error = await #expect(throws: BackplaneError.self) {
            try await host.network.send(HTTPRequest("GET", server.url("/refused")))
        }
        #expect(error == document.problems.first?.error)
        try await host.apply(Manifest(plugins: [], managers: [:]))
        _ = try await host.network.send(HTTPRequest("GET", server.url("/sent")))
        let first = await server.requests.first { _ in true }
        #expect(first?.target == "/sent")
        await host.stop()
    }

    @Test func `files are those of the folder of the manifest that is active`() async throws {
        let files = try TestFolder(), folder = files.path
        func document(_ name: String) throws -> ManifestDocument {
            let own = "\(folder)/\(name)"
            try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
            try Data(name.utf8).write(to: URL(filePath: own + "/name.txt"))
            try Data(#"{"manifestVersion": 1, "plugins": [], "managers": {}}"#.utf8).write(
                to: URL(filePath: own + "/manifest.json"))
            return ManifestDocument(contentsOf: own + "/manifest.json")
        }
        let host = PluginHost(manifest: try document("one"))
        try await host.start()
        func name() async throws -> String {
            String(decoding: try await host.network.send(HTTPRequest("GET", "file:name.txt")).body, as: UTF8.self)
        }
        #expect(try await name() == "one")
        try await host.apply(document("two"))
        #expect(try await name() == "two")
        await host.stop()
    }
}
