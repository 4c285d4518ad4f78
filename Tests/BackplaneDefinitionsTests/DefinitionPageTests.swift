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

/// The page on definitions (docs/definitions.md) and the schema for editors: their keys, examples and snippets.
@Suite(.timeLimit(.minutes(5)))
struct DefinitionPageTests {
    struct Pharmacy: Codable, Sendable, Equatable {
        var name: String
    }

    private let text: String
    private let schema: JSONSchema

    init() throws {
        text = try String(contentsOf: Page.root.appending(path: "docs/definitions.md"), encoding: .utf8)
        let path = Page.root.appending(path: "docs/definition.schema.json")
        schema = JSONSchema(try DocumentValue(parsing: Data(contentsOf: path), as: .document))
    }

    private func blocks(_ language: String) throws -> [String] {
        try text.components(separatedBy: "```\(language)\n").dropFirst().map { block in
            String(block.prefix(upTo: try #require(block.range(of: "```")).lowerBound))
        }
    }

    @Test func `every example is a definition without a problem, and valid`() throws {
        let examples = try blocks("json").filter { $0.contains(#""request""#) } + blocks("xml")
        #expect(examples.count == 2)
        for example in examples {
            let problems = DefinitionDocument(parsing: Data(example.utf8)).problems
            #expect(problems.isEmpty, "\(problems)")
            #expect(try schema.violations(in: DocumentValue(parsing: Data(example.utf8), as: .document)) == [])
        }
    }

    @Test(
        arguments: [
            ("method", "Of a method:", ["request", "serialization"]),
            ("request", "Of `request`:", DefinitionReader.requestKeys),
            ("header", "Of `header`", [DefinitionReader.excludeKey]),
            ("serialization", "Of `serialization`:", DefinitionReader.serializationKeys),
        ])
    func `page, schema and reader have the same keys`(name: String, heading: String, keys: [String]) throws {
        let section = try #require(text.components(separatedBy: heading).dropFirst().first)
        let table = section.components(separatedBy: "\n").drop { !$0.hasPrefix("|---") }.dropFirst().prefix {
            $0.hasPrefix("|")
        }
        #expect(Set(table.compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }) == Set(keys))
        guard case .dictionary(let properties) = try schema.schema("#/$defs/\(name)")["properties"] else {
            Issue.record("no properties of \(name)")
            return
        }
        #expect(Set(properties.keys) == Set(keys))
    }

    @Test(
        arguments: [
            #"{"m": {}}"#, #"{"m": {"request": {"path": 1}}}"#,
            #"{"m": {"request": {"path": "", "sessionType": "x"}}}"#,
            #"{"m": {"request": {"path": "", "method": "G T"}}}"#,
            #"{"m": {"request": {"path": "", "header": {"X": []}}}}"#,
            #"{"m": {"request": {"path": "", "parameters": []}}}"#, #"{"m": {"request": {"path": "", "pth": ""}}}"#,
            #"{"m": {"request": {"path": ""}, "serialization": {"serializer": ""}}}"#,
        ])
    func `the schema finds mistakes that the reader finds`(text: String) throws {
        #expect(try !schema.violations(in: DocumentValue(parsing: Data(text.utf8), as: .document)).isEmpty)
        #expect(!DefinitionDocument(parsing: Data(text.utf8)).problems.isEmpty)
    }

    @Test func `the page has every code, and the limits`() throws {
        let codes: [BackplaneError.Code] = [
            .definitionUnreadable, .definitionMalformed, .definitionWrongType, .definitionMissingKey,
            .definitionUnknownKey, .definitionInvalidValue, .definitionIndicator, .definitionIgnored,
            .definitionUnknownName, .definitionUnknownMethod, .definitionArguments, .definitionWrongModel,
        ]
        for code in codes { #expect(text.contains("`\(code.rawValue)`")) }
        #expect(
            text.contains(
                "at most \(DefinitionReader.longestText >> 10) KB, a method \(Indicator.mostArguments) arguments"))
        for type in SessionType.allCases { #expect(text.contains("`\(type.rawValue)`")) }
    }

    @Test func `every snippet of the page is one of these`() throws {
        func lines(_ text: some StringProtocol) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        let serializer = Page.root.appending(path: "Plugins/FlatBooks/Module/FlatBookSerializer.swift")
        let source = try [URL(filePath: #filePath), serializer].flatMap {
            lines(try String(contentsOf: $0, encoding: .utf8))
        }
        let snippets = try blocks("swift")
        #expect(snippets.count == 3)
        for snippet in snippets { #expect(source.firstRange(of: lines(snippet)) != nil, "\(snippet)") }
    }

    @Test func `the calls of the page reach a server as it says`() async throws {
        let remote = try TestServer { request, connection in
            switch request.target {
            case "/pharmacies?zip=1011": connection.answer("200 OK", body: Array(#"[{"name":"Löwen"}]"#.utf8))
            case "/photos/7": connection.answer("200 OK", body: Array((request["Accept"] ?? "").utf8))
            case "/pharmacies/7/ratings":
                connection.answer("200 OK", body: Array((request["Accept-Language"] ?? "").utf8) + request.body)
            default: connection.answer("404 Not Found")
            }
        }
        let temporary = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: temporary) }
        let example = try #require(try blocks("json").first)
        try Data(example.utf8).write(to: temporary.appending(path: "Pharmacies.json"))
        let folder = temporary.path, path = temporary.appending(path: "photo").path
        let server = remote.url(), http = HTTPClient([URLSessionExecutor()])

        let pharmacies = try WebService(
            named: "Pharmacies", baseURL: server, definition: .folder(folder), client: http,
            models: ["Pharmacy": Pharmacy.self])
        let near: [Pharmacy] = try await pharmacies.searchWithZIPCode("1011")

        let raw: Data = try await pharmacies.searchWithZIPCode("1011")
        let response: HTTPResponse = try await pharmacies.searchWithZIPCode("1011")
        let load: EndpointLoad<[Pharmacy]> = try pharmacies.searchWithZIPCode.load("1011")
        let file = try await pharmacies.photo.download(7, to: path)
        let other: Data = try await pharmacies.photo.with(headers: ["Accept": "image/png"])(7)

        #expect(near == [Pharmacy(name: "Löwen")])
        #expect(raw == Data(response.body))
        let loaded = try await load.value
        #expect(loaded == near)
        #expect(file.path == path)
        #expect(other == Data("image/png".utf8))
        let rated: String = try await pharmacies.rate(7, "de", 5, Pharmacy(name: "Ishmael"))
        #expect(rated == #"de{"reader":{"name":"Ishmael"},"stars":5}"#)
    }
}
