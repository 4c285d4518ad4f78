import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneDefinitions

/// Web services from files: finding them, and calls that do not fit.
@Suite(.timeLimit(.minutes(1)))
struct ServiceTests {
    private let folder: TestFolder
    private let client = HTTPClient([
        MemoryExecutor { request, _ in
            let body = request.headers.fields.map { "\($0.name)=\($0.value)" }.sorted().joined(separator: ";")
            return .init(HTTPResponse(status: 200, body: Array(body.utf8)))
        }
    ])

    init() throws { folder = try TestFolder() }

    private func write(_ text: String, as name: String) throws { try folder.write(Array(text.utf8), as: name) }

    private func service(_ name: String, _ source: WebService.Source? = nil) throws -> WebService {
        try WebService(
            named: name, baseURL: "https://example.org", definition: source ?? .folder(folder.path), client: client)
    }

    private static let list = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict>
          <key>echo:completionBlock:</key>
          <dict><key>request</key><dict>
            <key>path</key><string>echo?parameter=%0</string>
            <key>method</key><string>GET</string>
            <key>header</key><dict><key>X-Own</key><string>%0</string></dict>
          </dict></dict>
        </dict></plist>
        """

    @Test func `a file of Nemo Connect is loaded unchanged, with the shared header fields beside it`() async throws {
        try write(Self.list, as: "NCWebService+Image.plist")
        try write(
            "<plist><dict><key>X-Shared</key><string>50%0</string><key>X-Own</key><string>no</string></dict></plist>",
            as: "NCWebService.plist")
        let image = try service("Image")
        let text: String = try await image.echo(7)
        #expect(text == "X-Own=7;X-Shared=50%0")
        let url = URL(filePath: folder.path), file = folder.path + "/NCWebService+Image.plist"
        for source in [WebService.Source.url(URL(filePath: file)), .url(url), .file(file)] {
            let data: Data = try await service("Image", source).echo(7)
            #expect(data == Data(text.utf8))
        }
    }

    @Test func `files are found by three names, the original's first`() async throws {
        for (name, header) in [("Image.json", "c"), ("Image.plist", "b"), ("NCWebService+Image.plist", "a")] {
            try write(#"{"m": {"request": {"path": "", "header": {"X": "\#(header)"}}}}"#, as: name)
            let text: String = try await service("Image").m()
            #expect(text == "X=\(header)")
        }
    }

    @Test(arguments: ["Imagee", "", ".", "..", "../Image", "a/b", "a\u{0}"])
    func `a definition that is not there is an error`(name: String) throws {
        try write("{}", as: "Image.json")
        let error = #expect(throws: BackplaneError.self) { try service(name) }
        #expect(error?.code == .definitionUnreadable)
        if name == "Imagee" { #expect(error?.message.contains("did you mean `Image`?") == true) }
    }

    @Test func `mistakes in shared header fields are errors`() throws {
        try write("{}", as: "Image.json")
        for text in ["[]", #"{"X": []}"#, #"{"X Y": "a"}"#, #"{"X": "a\nb"}"#, "{"] {
            try write(text, as: "NCWebService.plist")
            let error = #expect(throws: BackplaneError.self, "\(text)") { try service("Image") }
            #expect(error?.location?.contains("NCWebService.plist") == true, "\(text)")
        }
    }

    @Test func `the client's credential authenticates every method, and a call may name another`() async throws {
        let echo = MemoryExecutor { request, _ in
            .init(HTTPResponse(status: 200, body: Array((request.headers["Authorization"] ?? "none").utf8)))
        }
        let credentials = ["ann", "bob"].map { name in
            (name, Credential(hosts: ["example.org"], .basic(Login(user: Secret(name), password: "p"))))
        }
        var http = HTTPClient(
            HTTPPipeline([echo], credentials: Credentials(Dictionary(uniqueKeysWithValues: credentials))))
        http.defaults.credential = "ann"
        let text = """
            {"m": {"request": {"path": "a"}},
             "other": {"request": {"path": "https://other.example.org/", "allowsFullURL": true}}}
            """
        let service = try WebService(
            named: "x", baseURL: "https://example.org", definition: .data(Data(text.utf8)), client: http)
        func basic(_ user: String) -> String { "Basic \(Data("\(user):p".utf8).base64EncodedString())" }
        #expect(try await service.m() == basic("ann"))
        #expect(try await service.m.with(credential: "bob")() == basic("bob"))
        #expect(try await service.other() == "none", "another origin is not the client's")
        #expect(try await service.client.load(service.m.endpoint(as: String.self)) == basic("ann"))
    }

    private static let methods = Data(
        #"""
        {
          "search:radius:": {"request": {"path": "a/%0/%1"}}, "search:city:": {"request": {"path": "b/%0/%1"}},
          "search:": {"request": {"path": "c/%0"}}, "plain": {"request": {"path": "d/%0"}}
        }
        """#.utf8)

    @Test func `an unknown name or number of arguments is an error that lists what exists`() async throws {
        let service = try service("x", .data(Self.methods))
        func error(_ name: String, _ arguments: (any Encodable & Sendable)?...) -> BackplaneError? {
            do { _ = try service[name].prepared(arguments) } catch { return error }
            return nil
        }
        #expect(error("serch", 1)?.code == .definitionUnknownMethod)
        #expect(error("serch", 1)?.message.contains("did you mean `search`?") == true)
        #expect(error("zzz")?.message.contains("it defines `plain`, `search`") == true)
        #expect(error("search")?.code == .definitionArguments)
        #expect(error("search")?.message.contains("`search(_:)`, `search(_:city:)`, `search(_:radius:)`") == true)
        #expect(error("search", 1, 2)?.code == .definitionUnknownMethod)
        #expect(error("search", 1, 2)?.message.contains("`search:city:` and `search:radius:`") == true)
        #expect(error("search:radius:", 1, 2) == nil)
        #expect(error("search", 1) == nil)
        #expect(error("plain", 1, 2, 3)?.code == .definitionArguments)
    }

    struct Book: Codable, Sendable, Equatable {
        var title: String
    }
    struct Film: Codable, Sendable {
        var title: String
    }
    /// A serializer of lines of titles.
    struct Lines: ResponseDecoder {
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            let titles = String(decoding: data, as: UTF8.self).split(separator: "\n").map { ["title": String($0)] }
            return try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(titles))
        }
    }

    @Test func `a serializer and a model are those that the definition names`() async throws {
        let text =
            #"{"m": {"request": {"path": "x"}, "serialization": {"serializator": "Lines", "serializedObject": "Book"}}}"#
        let client = HTTPClient([
            MemoryExecutor { _, _ in .init(HTTPResponse(status: 200, body: Array("Typee\nOmoo".utf8))) }
        ])
        func service(
            _ serializers: [String: any ResponseDecoder], _ models: [String: any (Decodable & Sendable).Type]
        ) throws -> WebService {
            try WebService(
                named: "Books", baseURL: "https://example.org", definition: .data(Data(text.utf8)), client: client,
                serializers: serializers, models: models)
        }
        let books = try service(["Lines": Lines()], ["Book": Book.self])
        let found: [Book] = try await books.m()
        #expect(found == [Book(title: "Typee"), Book(title: "Omoo")])
        let raw: Data = try await books.m()
        #expect(raw == Data("Typee\nOmoo".utf8))
        let error = await #expect(throws: BackplaneError.self) {
            let _: [Film] = try await books.m()
        }
        #expect(error?.code == .definitionWrongModel)
        let unknown = #expect(throws: BackplaneError.self) { try service([:], ["Book": Book.self]) }
        #expect(unknown?.code == .definitionUnknownName)
        #expect(unknown?.message.contains("`NCJSONSerializer` is") == true)
        #expect(throws: BackplaneError.self) { try service(["Lines": Lines()], [:]) }
    }
}
