import Backplane
import BackplaneDefinitions
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
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

/// Managers that map the responses of definitions to the JSON of contracts.
@Suite(.timeLimit(.minutes(5)))
struct SerializerTests {
    private static let definition = #"""
        {"search": {"request": {"path": "flat/%0[zip]"}, "serialization": {"serializer": "Flat"}},
         "all": {"request": {"path": "pharmacies"}}}
        """#

    /// Creates a host with a manager `FlatSerializer`, in this program or in C.
    private func host(
        _ sections: String = #""network": {"serializers": {"Flat": "FlatSerializer"}}, "#, lanes: LaneRule = .fastest,
        inC: Bool = false
    ) throws -> PharmacyHost {
        try PharmacyHost(
            Self.definition,
            library: inC ? "FixturesInC" : nil,
            server: PharmacyServer { request in
                request.url.contains("/flat/") ? HTTPResponse(status: 200, body: Array("7;Löwen\n8;Adler".utf8)) : nil
            }, lanes: lanes, sections: sections,
            managers: #""FlatSerializer": {"className": "\#(inC ? "SerializerInC" : "FlatSerializer")"}, "#)
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a serializer makes the contract's JSON of another shape`(lanes: LaneRule) async throws {
        let test = try host(lanes: lanes)
        try await test.host.start()
        let pharmacies = try await test.pharmacies
        #expect(
            try await pharmacies.search(PharmacyQuery(zip: "1")) == [
                Pharmacy(id: 7, name: "Löwen"), Pharmacy(id: 8, name: "Adler"),
            ])
        #expect(try await pharmacies.all(Nothing()).map(\.name) == ["Löwen"], "without a serializer")
        await test.host.stop()
    }

    @Test func `a serializer in C is one, too`() async throws {
        let test = try host(inC: true), pharmacies = try await test.pharmacies
        #expect(try await pharmacies.search(PharmacyQuery(zip: "1")) == [Pharmacy(id: 1, name: "C")])
        await test.host.stop()
    }

    @Test func `an unknown serializer, and one that is no manager or provides something else, are errors`() async throws
    {
        var problems = try await problems(#""network": {"serializers": {}}, "#)
        #expect(problems.map(\.code) == [.definitionUnknownName])
        problems = try await self.problems(#""network": {"serializers": {"Flat": "Nobody"}}, "#)
        #expect(problems.map(\.code) == [.unknownManager])
        #expect(problems[0].location == "/network/serializers/Flat")
        problems = try await self.problems(#""network": {"serializers": {"Flat": "Pharmacies"}}, "#)
        #expect(Set(problems.map(\.code)) == [.wireMismatch, .definitionUnknownName])
        problems = try await self.problems(#""network": {"serializers": {"Flat": 7}}, "#)
        #expect(problems.contains { $0.code == .manifestWrongType })
    }

    private func problems(_ sections: String) async throws -> [BackplaneError] {
        let test = try host(sections), problems = await test.host.check().filter { $0.severity == .error }
        await test.host.stop()
        return problems.map(\.error)
    }
}

/// A serializer of lines with an id and a name.
final class FlatSerializer: Manager {
    typealias Provides = Serializing

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.serialize) { _, response, _ in
            #expect(response.serializer == "Flat" && response.method == "search" && response.status == 200)
            let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
            return try JSONEncoder().encode(
                lines.map { line in
                    let parts = line.split(separator: ";")
                    return Pharmacy(id: Int(parts[0]) ?? 0, name: String(parts[1]))
                })
        }
    }
}

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

/// A manager and a communication controller that pass every call on to a network service; linked into the tests.
struct PharmacyPlugin: Plugin {
    static let id = "org.backplane.tests.pharmacies"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(PharmacyManager.self)
        registrar.add(PharmacyCommunication.self)
        registrar.add(NamedPharmacyManager.self)
        registrar.add(NamedPharmacyCommunication.self)
        registrar.add(FlatSerializer.self)
    }
}

/// A contract that no network service in code provides, with inputs and outputs of all kinds.
struct Pharmacies: Contract {
    static let version: Version = "1.2.0"
    /// A struct, by its properties.
    let search = AsyncMethod<PharmacyQuery, [Pharmacy]>()
    /// A struct, by its positions.
    let rate = AsyncMethod<PharmacyRating, Nothing>()
    /// A list, by its positions.
    let between = AsyncMethod<[Int], [Pharmacy]>()
    /// A value in a header field, and a text.
    let greeting = AsyncMethod<String, String>()
    /// No input.
    let all = AsyncMethod<Nothing, [Pharmacy]>()
    /// A file and a text in a form.
    let send = AsyncMethod<PharmacyPicture, Int>()
    let photo = AsyncMethod<Int, StoredFile>()
    let icon = AsyncMethod<Int, [UInt8]?>()
    /// A method that no definition here has.
    let forget = AsyncMethod<Int, Nothing>()
}

struct PharmacyQuery: Codable, Sendable {
    var zip: String
    var radius: Int?
}

struct PharmacyRating: Codable, Sendable {
    var pharmacy: Int
    var stars: Int
    var reader: String?
}

struct PharmacyPicture: Codable, Sendable {
    var title: String
    var picture: StoredFile
}

struct Pharmacy: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}

final class PharmacyManager: Manager {
    typealias Provides = Pharmacies
    struct Wires: Wiring {
        let communicationController: Wire<Pharmacies>
    }
    private let pharmacies: Wire<Pharmacies>

    init(_ context: Context) { pharmacies = context.wires.communicationController }

    static func methods(_ table: inout Methods) {
        table.async(\.search) { try await $0.pharmacies.search($1, $2) }
        table.async(\.rate) { try await $0.pharmacies.rate($1, $2) }
        table.async(\.between) { try await $0.pharmacies.between($1, $2) }
        table.async(\.greeting) { try await $0.pharmacies.greeting($1, $2) }
        table.async(\.all) { try await $0.pharmacies.all($1, $2) }
        table.async(\.send) { try await $0.pharmacies.send($1, $2) }
        table.async(\.photo) { try await $0.pharmacies.photo($1, $2) }
        table.async(\.icon) { try await $0.pharmacies.icon($1, $2) }
        table.async(\.forget) { try await $0.pharmacies.forget($1, $2) }
    }
}

final class PharmacyCommunication: CommunicationController {
    typealias Provides = Pharmacies
    struct Wires: Wiring {
        let service: Wire<Pharmacies>
    }
    private let service: Wire<Pharmacies>

    init(_ context: Context) { service = context.wires.service }

    static func methods(_ table: inout Methods) {
        table.async(\.search) { try await $0.service.search($1, $2) }
        table.async(\.rate) { try await $0.service.rate($1, $2) }
        table.async(\.between) { try await $0.service.between($1, $2) }
        table.async(\.greeting) { try await $0.service.greeting($1, $2) }
        table.async(\.all) { try await $0.service.all($1, $2) }
        table.async(\.send) { try await $0.service.send($1, $2) }
        table.async(\.photo) { try await $0.service.photo($1, $2) }
        table.async(\.icon) { try await $0.service.icon($1, $2) }
        table.async(\.forget) { try await $0.service.forget($1, $2) }
    }
}

/// A manager of a service that is called by the names of its methods.
final class NamedPharmacyManager: Manager {
    typealias Provides = WebAPI
    struct Wires: Wiring {
        let communicationController: Wire<WebAPI>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.call) { try await $0.wires.communicationController.call($1, $2) }
    }
}

final class NamedPharmacyCommunication: CommunicationController {
    typealias Provides = WebAPI
    struct Wires: Wiring {
        let service: Wire<WebAPI>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.call) { try await $0.wires.service.call($1, $2) }
    }
}
