import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import Foundation
import TestFixtures
import Testing

@testable import BackplaneDefinitions

/// Calls of defined methods over sockets: typed, as loads, raw, and with files.
@Suite(.timeLimit(.minutes(5)))
struct ServerTests {
    struct Pharmacy: Codable, Sendable, Equatable {
        var name: String
    }

    private static let definition = #"""
        {
          "searchWithZIPCode:completionBlock:": {
            "request": {"path": "/pharmacies?zip=%0"},
            "serialization": {"serializator": "NCJSONSerializer", "serializedObject": "Pharmacy"}
          },
          "send:files:completionBlock:progressBlock:": {
            "request": {"path": "/files", "sessionType": "UploadTask", "parameters": {"title": "%0"}, "files": "%1"}
          },
          "remove:": {"request": {"path": "/pharmacies/%0", "method": "DELETE"}}
        }
        """#

    private func service(_ server: TestServer) throws -> WebService {
        try WebService(
            named: "Pharmacies", baseURL: server.url("/v1/"), definition: .data(Data(Self.definition.utf8)),
            client: HTTPClient([URLSessionExecutor()]), models: ["Pharmacy": Pharmacy.self])
    }

    private static func server() throws -> TestServer {
        try TestServer { request, connection in
            switch request.target {
            case "/v1/pharmacies?zip=10%2611": connection.answer("200 OK", body: Array(#"[{"name":"Löwen"}]"#.utf8))
            case "/v1/files": connection.answer("200 OK", body: Array("\(request.body.count)".utf8))
            default: connection.answer("404 Not Found", body: Array("none".utf8))
            }
        }
    }

    @Test func `a call gives a typed value, the raw body, or the response`() async throws {
        let server = try Self.server(), pharmacies = try service(server)
        let found: [Pharmacy] = try await pharmacies.searchWithZIPCode("10&11")
        #expect(found == [Pharmacy(name: "Löwen")])
        let data: Data = try await pharmacies.searchWithZIPCode("10&11")
        #expect(data == Data(#"[{"name":"Löwen"}]"#.utf8))
        let (same, head): ([Pharmacy], HTTPResponse) = try await pharmacies.searchWithZIPCode.withResponse("10&11")
        #expect(same == found && head.status == 200 && head.headers["Content-Length"] == "\(data.count)")
        let response: HTTPResponse = try await pharmacies.remove(5)
        #expect(response.status == 404)
        let error = await #expect(throws: BackplaneError.self) {
            let _: Nothing = try await pharmacies.remove(5)
        }
        #expect(error?.httpStatus == 404)
        #expect(error?.httpBody == Array("none".utf8))
    }

    @Test func `a load calls back`() async throws {
        let server = try Self.server(), pharmacies = try service(server)
        let load: EndpointLoad<[Pharmacy]> = try pharmacies.searchWithZIPCode.load("10&11")
        let names = await withCheckedContinuation { continuation in
            load.onSuccess { continuation.resume(returning: $0.map(\.name)) }
                .onFailure { _ in continuation.resume(returning: []) }
        }
        #expect(names == ["Löwen"])
    }

    @Test func `a file is read while it is sent`() async throws {
        let server = try Self.server(), pharmacies = try service(server)
        let folder = try TestFolder(), path = try folder.write(Array(repeating: 1, count: 300_000), as: "part")
        let size: String = try await pharmacies.send("Whale", [FilePart("f", path: path)])
        let sent = try #require(Int(size))
        #expect(sent > 300_000 && sent < 301_000)
    }
}
