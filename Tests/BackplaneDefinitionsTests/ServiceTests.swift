import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
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
        let error = await error { let _: [Film] = try await books.m() }
        #expect(error?.code == .definitionWrongModel)
        let unknown = #expect(throws: BackplaneError.self) { try service([:], ["Book": Book.self]) }
        #expect(unknown?.code == .definitionUnknownName)
        #expect(unknown?.message.contains("`NCJSONSerializer` is") == true)
        #expect(throws: BackplaneError.self) { try service(["Lines": Lines()], [:]) }
    }
}

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
        let error = await error { let _: Nothing = try await pharmacies.remove(5) }
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

/// Contracts compared with definitions, inputs as arguments and responses as outputs.
@Suite(.timeLimit(.minutes(1)))
struct ServedContractTests {
    private func served(
        _ definition: String, _ shape: ContractShape = ContractShape(), kind: MethodKind = .async
    ) throws -> ServedContract {
        let document = DefinitionDocument(parsing: Data(definition.utf8))
        let contract = ContractDescription(
            name: "API", version: "1.0.0", methods: [MethodDescription(name: "m", kind: kind)])
        try document.requireSound()
        return ServedContract(contract, ["m": shape], by: document.definition)
    }

    private static let two = #"{"m": {"request": {"path": "%0/%1"}}}"#

    @Test func `several arguments are the elements of an array, or the properties in their order`() throws {
        let unknown = try #require(try served(Self.two).methods.first)
        #expect(try unknown.arguments(of: [1, "x"]).map(\.kind) == ["an integer", "a string"])
        for wrong in [[1], [1, 2, 3], ["a": 1, "b": 2], nil, 7] as [DocumentValue] {
            #expect(throws: BackplaneError.self) { try unknown.arguments(of: wrong) }
        }
        let known = try #require(
            try served(Self.two, ContractShape(input: .structure(["b", "a"]))).methods.first)
        #expect(try known.arguments(of: ["a": 1, "b": "x"]).map(\.kind) == ["a string", "an integer"])
        #expect(try known.arguments(of: ["a": 1]).map(\.kind) == ["null", "an integer"])
    }

    @Test func `the labels of a selector are the names of properties`() throws {
        let definition = #"{"m:b:c:": {"request": {"path": "%0/%1/%2"}}}"#
        let unknown = try #require(try served(definition).methods.first)
        #expect(
            try unknown.arguments(of: ["c": true, "b": "x", "a": 1]).map(\.kind) == [
                "an integer", "a string", "a boolean",
            ])
        #expect(try unknown.arguments(of: ["b": "x"]).map(\.kind) == ["null", "a string", "null"])
        #expect(throws: BackplaneError.self) { try unknown.arguments(of: ["a": 1, "b": 2, "d": 3]) }
        let known = try #require(
            try served(definition, ContractShape(input: .structure(["b", "c", "a"]))).methods.first)
        #expect(try known.arguments(of: ["a": 1, "b": "x"]).map(\.kind) == ["an integer", "a string", "null"])
        // One that is none of them would be lost.
        #expect(throws: BackplaneError.self) { try known.arguments(of: ["a": 1, "bee": "x"]) }
        // Properties with other names are taken in the order of their declaration.
        let others = try #require(
            try served(definition, ContractShape(input: .structure(["z", "y", "c"]))).methods.first)
        #expect(
            try others.arguments(of: ["c": true, "y": "x", "z": 1]).map(\.kind) == [
                "an integer", "a string", "a boolean",
            ])
    }

    @Test func `one argument is the whole input, and none ignores it`() throws {
        let one = try #require(try served(#"{"m": {"request": {"path": "%0[a]"}}}"#).methods.first)
        #expect(try one.arguments(of: ["a": 1]).map(\.kind) == ["a dictionary"])
        let none = try #require(try served(#"{"m": {"request": {"path": "x"}}}"#).methods.first)
        #expect(try none.arguments(of: ["a": 1]).isEmpty)
    }

    @Test func `a method that only the definition has is told if it is almost one that is missing`() throws {
        func served(_ definition: String) throws -> ServedContract {
            let methods = ["search", "find"].map { MethodDescription(name: $0, kind: .async) }
            return ServedContract(
                ContractDescription(name: "API", version: "1.0.0", methods: methods), [:],
                by: DefinitionDocument(parsing: Data(definition.utf8)).definition)
        }
        let request = #"{"request": {"path": "x"}}"#
        let problems = try served(#"{"find": \#(request), "serch": \#(request), "other": \#(request)}"#).problems
        #expect(problems.map(\.severity) == [.warning])
        #expect(problems.map(\.error.message) == ["`API` has no method `serch`; did you mean `search`?"])
        #expect(try served(#"{"find": \#(request), "search": \#(request), "serch": \#(request)}"#).problems.isEmpty)
    }

    @Test(arguments: [MethodKind.sync, .stream])
    func `only asynchronous methods are served`(kind: MethodKind) throws {
        let problems = try served(Self.two, kind: kind).problems
        #expect(problems.map(\.error.code) == [.wireMismatch])
    }

    @Test func `of two methods with one name, the input decides`() throws {
        let both = #"{"m:": {"request": {"path": "%0"}}, "m:b:": {"request": {"path": "%0/%1"}}}"#
        #expect(try served(both, ContractShape(input: .text)).methods.first?.method.selector == "m:")
        #expect(try served(both).problems.map(\.error.code) == [.wireMismatch])
    }

    @Test(
        arguments: [
            (ContractValue.scalar, ContractValue.unknown, "application/json", "[1]", "[1]"),
            (.unknown, .unknown, "text/plain", "a \"b\"", #""a \"b\"""#),
            (.unknown, .structure([]), "application/json", "", "null"),
            (.unknown, .nothing, "text/html", "<html>", "null"),
            (.unknown, .text, "text/html", "<html>", #""<html>""#),
            (.unknown, .text, "application/problem+json", #""a""#, #""a""#),
            (.unknown, .data, "image/png", "PNG", #""UE5H""#),
            (.unknown, .list, "application/json", " \n[]", " \n[]"),
        ] as [(ContractValue, ContractValue, String, String, String)])
    func `a response becomes the output`(
        input: ContractValue, output: ContractValue, type: String, body: String, expected: String
    ) throws {
        let definition = #"{"m": {"request": {"path": "%0"}}}"#
        let shape = ContractShape(output: output)
        let method = try #require(try served(definition, shape).methods.first)
        let response = HTTPResponse(status: 200, headers: ["Content-Type": type], body: Array(body.utf8))
        #expect(String(decoding: try method.output.output(of: response), as: UTF8.self) == expected)
    }

    @Test(arguments: ["<html>", "hello", "\u{FEFF}{}"])
    func `what is not JSON is no output of another type`(body: String) throws {
        let method = try #require(
            try served(#"{"m": {"request": {"path": "%0"}}}"#, ContractShape(output: .list)).methods.first)
        #expect(throws: ContractOutput.NotJSON.self) {
            try method.output.output(of: HTTPResponse(status: 200, body: Array(body.utf8)))
        }
    }

    private struct Failed: Error {}

    @Test func `a serializer and a download are outputs of their own`() throws {
        func output(_ text: String) throws -> ContractOutput? { try served(text).methods.first?.output }
        let mapped = #"{"m": {"request": {"path": "x"}, "serialization": {"serializer": "S"}}}"#
        guard case .mapped("S") = try output(mapped) else { throw Failed() }
        let json = #"{"m": {"request": {"path": "x"}, "serialization": {"serializer": "NCJSONSerializer"}}}"#
        guard case .any = try output(json) else { throw Failed() }
        let download = #"{"m": {"request": {"path": "x", "sessionType": "DownloadTask"}}}"#
        guard case .file = try output(download) else { throw Failed() }
    }
}

/// A web service of one method, `m`, and the requests that its calls come to.
struct DefinedRequest {
    let service: WebService

    /// - Parameters:
    ///   - request: The value of `request` as JSON.
    ///   - key: The key of the method.
    init(
        _ request: String, as key: String = "m", baseURL: String = "https://example.org/v1", shared: HTTPHeaders = [:]
    ) throws {
        let text = #"{"\#(key)": {"request": \#(request)}}"#
        var client = HTTPClient([MemoryExecutor { _, _ in .init(HTTPResponse(status: 200)) }])
        client.defaults.headers = shared
        service = try WebService(named: "Test", baseURL: baseURL, definition: .data(Data(text.utf8)), client: client)
    }

    func made(_ arguments: (any Encodable & Sendable)?..., adding headers: HTTPHeaders = [:]) throws -> HTTPRequest {
        let prepared = try service.m.with(headers: headers).prepared(arguments)
        return try prepared.endpoint(Data.self).request(prepared.client.defaults)
    }
}

extension HTTPRequest {
    /// The body, which is in memory, as text.
    var text: String? { body.bytes.map { String(decoding: $0, as: UTF8.self) } }

    /// The whole body as text, wherever it comes from.
    func wholeText() async throws -> String {
        String(decoding: try await body.open().collect(upTo: 1 << 20), as: UTF8.self)
    }
}
