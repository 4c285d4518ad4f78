import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Synchronization
import TestFixtures

@testable import BackplaneHost

/// A host with a manager whose network service is a definition, and a server in memory that records its requests.
final class PharmacyHost: Sendable {
    let test: TestHost
    let server: PharmacyServer
    var host: PluginHost { test.host }

    /// A definition of all methods of ``Pharmacies`` but `forget`.
    static let definition = #"""
        {
          "search": {"request": {"path": "pharmacies?zip=%0[zip]&within=%0[radius]"}},
          "rate:stars:reader:completionBlock:": {
            "request": {"path": "pharmacies/%0/ratings", "method": "POST", "body": {"stars": "%1", "reader": "%2"}}
          },
          "between": {"request": {"path": "pharmacies/%0...%1"}},
          "greeting": {"request": {"path": "greeting", "header": {"Accept-Language": "%0", "excludeSharedHeader": true}}},
          "allWithCompletionBlock:": {"request": {"path": "pharmacies"}},
          "send": {
            "request": {
              "path": "pictures", "sessionType": "UploadTask", "parameters": {"title": "%0[title]"}, "files": "%0[picture]"
            }
          },
          "photo": {"request": {"path": "photos/%0", "sessionType": "DownloadTask"}},
          "icon": {"request": {"path": "icons/%0"}}
        }
        """#

    /// Creates a host of the manager `Pharmacies`.
    ///
    /// - Parameters:
    ///   - definition: The content of `Pharmacies.json` beside the manifest.
    ///   - configuration: The keys of the service's configuration after its name and its base URL, as JSON.
    ///   - manager: The class of the manager, and the beginning of its controller's.
    ///   - library: A library of the manifest.
    ///   - controller: The class of the communication controller.
    ///   - className: The class of the service.
    ///   - baseURL: The base URL of the service.
    ///   - sections: Other sections of the manifest, as JSON with a comma at its end.
    ///   - managers: Other managers, in the same way.
    ///   - server: The server.
    init(
        _ definition: String = PharmacyHost.definition, _ configuration: String = #""contract": "Pharmacies""#,
        manager: String = "PharmacyManager", library: String? = nil,
        controller: String = "PharmacyCommunication", className: String = "WebService",
        baseURL: String = "https://health.example.org/v1", server: PharmacyServer = PharmacyServer(),
        lanes: LaneRule = .fastest, sections: String = "", managers: String = ""
    ) throws {
        let folder = try TestFolder()
        try folder.write(Array(definition.utf8), as: "Pharmacies.json")
        let plugins = library.map { #"{"library": "\#($0)"}"# } ?? ""
        self.server = server
        test = try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [\#(plugins)], \#(sections)"managers": {\#(managers)"Pharmacies": {
              "className": "\#(manager)",
              "communicationController": {"className": "\#(controller)", "services": [{
                "className": "\#(className)", "propertyName": "service",
                "networkServiceConfiguration": {
                  "serviceName": "Pharmacies", "baseURL": "\#(baseURL)", \#(configuration)}}]}}}}
            """#, linked: [LinkedPlugin(PharmacyPlugin.self)], in: folder, lanes: lanes
        ) { $0.executors = [server.executor] }
    }

    var pharmacies: Remote<Pharmacies> {
        get async throws { try await host.manager("Pharmacies") }
    }

    /// The manifest as it is now.
    var document: ManifestDocument { ManifestDocument(contentsOf: test.folder + "/manifest") }

    /// Writes another definition.
    func define(_ definition: String) throws {
        try test.files.write(Array(definition.utf8), as: "Pharmacies.json")
    }
}

/// A server of pharmacies in memory.
final class PharmacyServer: Sendable {
    private let received = Mutex<[HTTPRequest]>([])
    private let answer: @Sendable (HTTPRequest) async throws -> HTTPResponse?

    /// Creates a server, by default with an answer to every request of ``PharmacyHost/definition``.
    ///
    /// - Parameter answer: A function that returns a response; `nil` for the default.
    init(_ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse? = { _ in nil }) {
        self.answer = answer
    }

    /// The requests so far, with their bodies in memory.
    var requests: [HTTPRequest] { received.withLock(\.self) }

    var executor: MemoryExecutor {
        MemoryExecutor { [self] request, _ in
            var request = request
            request.body = try await request.body.collected(upTo: 1 << 20)
            received.withLock { $0.append(request) }
            return HTTPStreamedResponse(try await answer(request) ?? Self.standard(request))
        }
    }

    private static func standard(_ request: HTTPRequest) -> HTTPResponse {
        let path = request.url.split(separator: "?")[0].split(separator: "/").dropFirst(3).joined(separator: "/")
        switch path {
        case "pharmacies": return json(#"[{"id": 7, "name": "Löwen"}]"#)
        case "pharmacies/1...9": return json(#"[{"name":"Adler","id":1}]"#)
        case "greeting":
            return HTTPResponse(status: 200, headers: ["Content-Type": "text/plain"], body: Array("Grüezi".utf8))
        case "pictures": return json("\(request.body.bytes?.count ?? 0)")
        case "photos/7": return HTTPResponse(status: 200, body: [0xFF, 0xD8])
        case "icons/7":
            return HTTPResponse(status: 200, headers: ["Content-Type": "text/html"], body: Array("<html>".utf8))
        default: return HTTPResponse(status: 204)
        }
    }

    static func json(_ text: String) -> HTTPResponse {
        HTTPResponse(status: 200, headers: ["Content-Type": "application/json"], body: Array(text.utf8))
    }
}

extension HTTPRequest {
    /// The body, which is in memory, as text.
    var text: String { body.bytes.map { String(decoding: $0, as: UTF8.self) } ?? "" }
}
