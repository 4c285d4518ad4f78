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
    struct Search: Encodable, Sendable {
        var zip = "10&11"
        var tags = ["sea", "whale"]
        var radius: Int?
        var remoteId = 7
    }

    /// `NCWebService+Image.plist`, with every key that the README names.
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
        <key>searchImages:completionBlock:</key><dict>
          <key>request</key><dict><key>path</key><string>/images?%0</string></dict>
        </dict>
        <key>imageWithId:completionBlock:progressBlock:</key><dict>
          <key>request</key><dict>
            <key>path</key><string>/images/%0</string><key>sessionType</key><string>DownloadTask</string>
          </dict>
        </dict>
        <key>rateImage:stars:completionBlock:</key><dict>
          <key>request</key><dict>
            <key>path</key><string>/images/%0[remoteId]/ratings</string><key>method</key><string>POST</string>
            <key>parameters</key><dict><key>stars</key><string>%1</string></dict>
          </dict>
        </dict>
        <key>sendTitle:files:completionBlock:progressBlock:</key><dict>
          <key>request</key><dict>
            <key>path</key><string>/images</string><key>sessionType</key><string>UploadTask</string>
            <key>parameters</key><dict><key>title</key><string>%0</string></dict>
            <key>files</key><string>%1</string>
          </dict>
        </dict>
        <key>replaceImage:data:completionBlock:</key><dict>
          <key>request</key><dict>
            <key>path</key><string>/images/%0</string><key>method</key><string>PUT</string>
            <key>body</key><string>%1</string>
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
            let type = request["Content-Type"] ?? ""
            switch (request.method, request.target) {
            case ("GET", "/v1/images?zip=10%2611"):
                connection.answer(json: [Image(remoteId: 7, title: request["X-Token"] ?? "none")])
            case ("GET", "/v1/images?id=7&tags=sea,whale&zip=10%2611"):
                connection.answer("200 OK", body: Array("all".utf8))
            case ("GET", "/v1/images/7"): connection.answer("200 OK", body: Self.picture)
            case ("POST", "/v1/images/7/ratings"):
                connection.answer("200 OK", body: Array("\(type) ".utf8) + request.body)
            case ("POST", "/v1/images") where type.hasPrefix("multipart/form-data; boundary="):
                connection.answer("201 Created", body: request.body)
            case ("PUT", "/v1/images/7"): connection.answer("200 OK", body: request.body)
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

    @Test func `an object in a path is the query of its properties`() async throws {
        let server = try server(), images = try images(server)
        let text: String = try await images.searchImages(Search())
        #expect(text == "all")
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

    @Test func `a property of an argument in a path, and a form`() async throws {
        let server = try server(), images = try images(server)
        let text: String = try await images.rateImage(Image(remoteId: 7, title: "Whale"), 5)
        #expect(text == "application/x-www-form-urlencoded stars=5")
    }

    @Test func `files are sent as a multipart form that is closed`() async throws {
        let server = try server(), images = try images(server)
        try folder.write([1, 2, 3], as: "whale.png")
        let files = [
            FilePart("image", path: folder.path + "/whale.png", type: "image/png"),
            FilePart("thumbnail", bytes: [4], fileName: "small \"whale\".png", type: "image/png"),
        ]
        let (sent, response): (Data, HTTPResponse) = try await images.sendTitle.withResponse("Moby-Dick", files)
        let text = String(decoding: sent, as: UTF8.self)
        #expect(response.status == 201)
        #expect(text.contains(#"name="title"\#r\#n\#r\#nMoby-Dick"#))
        #expect(text.contains(#"name="image"; filename="whale.png""#))
        #expect(text.hasSuffix("--\r\n"))
    }

    @Test func `data is the body, and a status is an error with its content`() async throws {
        let server = try server(), images = try images(server)
        let data: Data = try await images.replaceImage(7, Data([1, 2]))
        #expect(data == Data([1, 2]))
        let error = await #expect(throws: BackplaneError.self) {
            let _: Data = try await images.replaceImage(8, Data([1, 2]))
        }
        #expect(error?.httpStatus == 404 && error?.httpBody == Array("/v1/images/8".utf8))
        await #expect(throws: BackplaneError.self) { let _: Data = try await images.noSuchMethod(1) }
    }
}
