import Backplane
import BackplaneDefinitions
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import Foundation
import TestFixtures
import Testing

/// Nemo Connect's README: methods that a property list describes, called as if they were written.
@Suite(.timeLimit(.minutes(1)))
struct `Nemo Connect's README` {
    struct Image: Codable, Sendable, Equatable {
        var remoteId: Int
        var title: String
    }

    /// `NCWebService+Image.plist`: a search and a download of the README.
    private static let definition = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict>
        <key>searchImagesWithZIPCode:token:completionBlock:</key><dict>
          <key>request</key><dict>
            <key>path</key><string>/images?zip=%0</string>
            <key>method</key><string>GET</string>
            <key>header</key><dict><key>X-Token</key><string>Token %1</string></dict>
          </dict>
          <key>serialization</key><dict>
            <key>serializator</key><string>NCJSONSerializer</string>
            <key>serializedObject</key><string>Image</string>
          </dict>
        </dict>
        <key>imageWithId:completionBlock:progressBlock:</key><dict>
          <key>request</key><dict>
            <key>path</key><string>/images/%0</string><key>sessionType</key><string>DownloadTask</string>
          </dict>
        </dict>
        </dict></plist>
        """
    private static let picture = [UInt8](repeating: 7, count: 300_000)

    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write(Array(Self.definition.utf8), as: "NCWebService+Image.plist")
        try folder.write(
            Array("<plist><dict><key>X-Shared</key><string>all</string></dict></plist>".utf8), as: "NCWebService.plist")
    }

    /// A server that asks for BASIC, and answers with what it was sent.
    private func server() throws -> TestServer {
        let basic = "Basic \(Data("ann:white".utf8).base64EncodedString())"
        return try TestServer { request, connection in
            guard request["Authorization"] == basic, request["X-Shared"] == "all" else {
                return connection.answer("401 Unauthorized", [("WWW-Authenticate", #"Basic realm="images""#)])
            }
            switch (request.method, request.target) {
            case ("GET", "/v1/images?zip=10%2611"):
                connection.answer(json: [Image(remoteId: 7, title: request["X-Token"] ?? "none")])
            case ("GET", "/v1/images/7"): connection.answer("200 OK", body: Self.picture)
            default: connection.answer("404 Not Found", body: Array(request.target.utf8))
            }
        }
    }

    private func images(_ server: TestServer) throws -> WebService {
        let http = HTTPClient([URLSessionExecutor()], credentials: .basic("ann", "white", for: "127.0.0.1"))
        return try WebService(
            named: "Image", baseURL: server.url("/v1"), definition: .folder(folder.path), client: http,
            models: ["Image": Image.self])
    }

    @Test func `a search with BASIC gives models, with a token in a header field`() async throws {
        let server = try server(), images = try images(server)
        let found: [Image] = try await images.searchImagesWithZIPCode("10&11", "t")
        #expect(found == [Image(remoteId: 7, title: "Token t")])
    }

    @Test func `a download to a file has progress, and can be cancelled`() async throws {
        let server = try server(), images = try images(server), progress = Recording<Int64>()
        let path = folder.path + "/image.png"
        let load = try images.imageWithId.load(7, to: path).onProgress { progress.add($0.received) }
        #expect(try await load.value.path == path)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(Self.picture))
        _ = try await progress.first { $0 == Int64(Self.picture.count) }
        let held = try TestServer { _, connection in connection.stall() }
        let cancelled = try self.images(held).imageWithId.load(7, to: folder.path + "/none.png")
        cancelled.cancel()
        guard case .failure(let error) = await cancelled.result else { return #expect(Bool(false)) }
        #expect(error.code == .callCancelled)
    }
}
