import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import Foundation
import Synchronization
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
          "image:": {"request": {"path": "/image/%0", "sessionType": "DownloadTask"}},
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
            case "/v1/image/7": connection.answer("200 OK", body: Array(repeating: 7, count: 100_000))
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

    @Test func `a response that is not the model keeps its data in the error`() async throws {
        let server = try TestServer { _, connection in connection.answer("200 OK", body: Array("<html>".utf8)) }
        let pharmacies = try service(server)
        let error = await #expect(throws: BackplaneError.self) {
            let _: [Pharmacy] = try await pharmacies.searchWithZIPCode("1")
        }
        #expect(error?.code == .networkUnparsable)
        #expect(error?.httpBody == Array("<html>".utf8))
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

    @Test func `a download goes to a file, or to memory`() async throws {
        let server = try Self.server(), pharmacies = try service(server)
        let folder = try TestFolder(), path = folder.path + "/image"
        let file = try await pharmacies.image.download(7, to: path)
        #expect(file.size == 100_000)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(repeating: 7, count: 100_000))
        let data: Data = try await pharmacies.image(7)
        #expect(data.count == 100_000)
        let endpoint = try pharmacies.image.endpoint(7, as: DownloadedFile.self, to: path)
        #expect(try await pharmacies.client.load(endpoint).size == 100_000)
        await #expect(throws: BackplaneError.self) { try await pharmacies.image.download(8, to: path) }
        #expect(try Data(contentsOf: URL(filePath: path)).count == 100_000)
    }

    @Test func `a download to a file reports its progress, and can be cancelled`() async throws {
        let server = try Self.server(), pharmacies = try service(server)
        let folder = try TestFolder(), path = folder.path + "/image"
        let received = Mutex<Int64>(0)
        _ = try await pharmacies.image.download(7, to: path) { progress in received.withLock { $0 = progress.received }
        }
        #expect(received.withLock(\.self) == 100_000)
        let silent = try TestServer { _, connection in connection.stall() }
        let stalled = try service(silent).image.load(7, to: path + "2").onProgress { _ in }
        for await _ in silent.requests { break }
        stalled.cancel()
        await #expect(throws: BackplaneError.self) { try await stalled.value }
    }

    @Test func `a file is read while it is sent`() async throws {
        let server = try Self.server(), pharmacies = try service(server)
        let folder = try TestFolder(), path = try folder.write(Array(repeating: 1, count: 300_000), as: "part")
        let size: String = try await pharmacies.send("Whale", [FilePart("f", path: path)])
        let sent = try #require(Int(size))
        #expect(sent > 300_000 && sent < 301_000)
    }

    @Test func `a file that is missing or a folder fails the call with its path`() async throws {
        let server = try Self.server(), pharmacies = try service(server)
        for path in ["/nonexistent/whale.png", FileManager.default.temporaryDirectory.path] {
            let error = await #expect(throws: BackplaneError.self) {
                let _: String = try await pharmacies.send("Whale", FilePart("f", path: path))
            }
            #expect(error?.code == .networkBody)
            #expect(error?.message.contains(path) == true)
        }
    }
}
