import Backplane
import BackplaneDefinitions
import BackplaneDocuments
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// Contracts that definitions serve without code.
@Suite(.timeLimit(.minutes(5)))
struct DefinedServiceTests {
    private func stored(_ path: String) throws -> StoredFile {
        let size = try FileStatus(at: path).size
        return try JSONDecoder().decode(StoredFile.self, from: Data(#"{"path":"\#(path)","size":\#(size)}"#.utf8))
    }

    @Test(arguments: [LaneRule.fastest, .encoded], ["WebService", "NCWebService"])
    func `a definition serves the properties of a struct, positions, a header field and no input`(
        lanes: LaneRule, className: String
    ) async throws {
        let test = try PharmacyHost(className: className, lanes: lanes), pharmacies = try await test.pharmacies
        #expect(try await pharmacies.search(PharmacyQuery(zip: "10 11", radius: 5)) == [Pharmacy(id: 7, name: "Löwen")])
        _ = try await pharmacies.search(PharmacyQuery(zip: "1"))
        _ = try await pharmacies.rate(PharmacyRating(pharmacy: 7, stars: 5, reader: "Ada"))
        _ = try await pharmacies.rate(PharmacyRating(pharmacy: 8, stars: 1))
        #expect(try await pharmacies.between([1, 9]).map(\.name) == ["Adler"])
        #expect(try await pharmacies.greeting("de-CH") == "Grüezi")
        #expect(try await pharmacies.all(Nothing()).count == 1)
        let requests = test.server.requests
        #expect(
            requests.map { "\($0.method) \($0.url)" } == [
                "GET https://health.example.org/v1/pharmacies?zip=10%2011&within=5",
                "GET https://health.example.org/v1/pharmacies?zip=1",
                "POST https://health.example.org/v1/pharmacies/7/ratings",
                "POST https://health.example.org/v1/pharmacies/8/ratings",
                "GET https://health.example.org/v1/pharmacies/1...9",
                "GET https://health.example.org/v1/greeting", "GET https://health.example.org/v1/pharmacies",
            ])
        #expect(requests[2].text == #"{"reader":"Ada","stars":5}"#)
        #expect(requests[3].text == #"{"reader":null,"stars":1}"#)
        #expect(requests[5].headers["Accept-Language"] == "de-CH")
        await test.host.stop()
    }

    @Test func `a file is sent in a form, and a download becomes a file of the service`() async throws {
        let test = try PharmacyHost(), pharmacies = try await test.pharmacies
        let path = try test.test.files.write(Array("PNG".utf8), as: "a.png")
        let count = try await pharmacies.send(PharmacyPicture(title: "Whale", picture: stored(path)))
        let form = try #require(test.server.requests.first?.text)
        #expect(count == form.utf8.count)
        #expect(form.contains("name=\"title\"\r\n\r\nWhale\r\n"))
        #expect(
            form.contains(
                "name=\"picture\"; filename=\"a.png\"\r\nContent-Type: application/octet-stream\r\n\r\nPNG\r\n"))
        let photo = try await pharmacies.photo(7), other = try await pharmacies.photo(7)
        #expect(photo.size == 2 && photo.path != other.path)
        #expect(try Data(contentsOf: URL(filePath: photo.path)) == Data([0xFF, 0xD8]))
        #expect(photo.path.contains("/Pharmacies@service/"))
        await test.host.stop()
    }

    @Test func `a file that is a link, a folder, missing or changed is refused before anything is sent`() async throws {
        let test = try PharmacyHost(), pharmacies = try await test.pharmacies, folder = test.test.files
        let path = try folder.write(Array("PNG".utf8), as: "a.png")
        let file = try stored(path), link = try folder.link("link.png", to: path)
        var wrong: [StoredFile] = []
        for (path, size) in [(link, 3), (try folder.makeFolder("f"), 3), (folder.path + "/none", 3), (path, 4)] {
            wrong.append(
                try JSONDecoder().decode(StoredFile.self, from: Data(#"{"path":"\#(path)","size":\#(size)}"#.utf8)))
        }
        for file in wrong {
            let refused = await error { try await pharmacies.send(PharmacyPicture(title: "", picture: file)) }
            #expect(refused?.code == .fileRefused, "\(file.path)")
        }
        #expect(test.server.requests.isEmpty)
        _ = try await pharmacies.send(PharmacyPicture(title: "", picture: file))
        await test.host.stop()
    }

    @Test func `an invalid response, a status and a missing method are errors`() async throws {
        let test = try PharmacyHost(
            server: PharmacyServer { request in
                request.url.hasSuffix("?zip=404") ? HTTPResponse(status: 404, body: Array("none".utf8)) : nil
            })
        let pharmacies = try await test.pharmacies
        let missing = await error { try await pharmacies.search(PharmacyQuery(zip: "404")) }
        #expect(missing?.code == .networkStatus && missing?.httpStatus == 404)
        let page = await error { try await pharmacies.icon(7) }
        #expect(page?.code == .networkUnparsable)
        #expect(page?.httpBody == Array("<html>".utf8))
        #expect(try await pharmacies.icon(8) == nil, "an empty body is null")
        #expect(await error { try await pharmacies.forget(7) }?.code == .callUnimplemented)
        await test.host.stop()
    }

    @Test func `without a contract, methods are called by their names`() async throws {
        let test = try PharmacyHost(
            PharmacyHost.definition, #""definition": "Pharmacies.json""#, manager: "NamedPharmacyManager",
            controller: "NamedPharmacyCommunication")
        let pharmacies: Remote<WebAPI> = try await test.host.manager("Pharmacies")
        #expect(try await pharmacies.call(WebCall("all")) == [["id": 7, "name": "Löwen"]])
        #expect(try await pharmacies.call(WebCall("rate:stars:reader:", 7, 5, nil)) == .null)
        #expect(test.server.requests.last?.text == #"{"reader":null,"stars":5}"#)
        let unknown = await error { try await pharmacies.call(WebCall("al")) }
        #expect(unknown?.code == .definitionUnknownMethod)
        #expect(await error { try await pharmacies.call(WebCall("all", 1, 2)) }?.code == .definitionArguments)
        await test.host.stop()
    }

    @Test func `a consumer in C is served by the same definition, with arrays or labels for positions`() async throws {
        let test = try PharmacyHost(library: "FixturesInC", controller: "PharmacyInC")
        let pharmacies = try await test.pharmacies
        #expect(try await pharmacies.search(PharmacyQuery(zip: "1", radius: 2)) == [Pharmacy(id: 7, name: "Löwen")])
        #expect(try await pharmacies.all(Nothing()).count == 1)
        #expect(try await pharmacies.between([1, 9]).map(\.name) == ["Adler"])
        let path = try test.test.files.write(Array("PNG".utf8), as: "a.png")
        #expect(try await pharmacies.send(PharmacyPicture(title: "Whale", picture: stored(path))) > 3)
        #expect(try await pharmacies.photo(7).size == 2)
        _ = try await test.test.call("Pharmacies", "greeting", #""de""#)
        #expect(test.server.requests.last?.headers["Accept-Language"] == "de")
        // Without the layout of the struct, the labels of the selector name its properties.
        _ = try await pharmacies.rate(PharmacyRating(pharmacy: 7, stars: 5))
        #expect(test.server.requests.last?.url == "https://health.example.org/v1/pharmacies/7/ratings")
        #expect(test.server.requests.last?.text == #"{"reader":null,"stars":5}"#)
        await test.host.stop()
    }
}
