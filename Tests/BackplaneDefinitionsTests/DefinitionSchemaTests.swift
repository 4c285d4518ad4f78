import BackplaneDocuments
import Foundation
import TestFixtures
import Testing

@testable import BackplaneDefinitions

/// The schema of definitions for editors: it knows the keys of the reader, and finds its mistakes.
struct DefinitionSchemaTests {
    private let schema: JSONSchema

    init() throws {
        let path = Page.root.appending(path: "docs/definition.schema.json")
        schema = JSONSchema(try DocumentValue(parsing: Data(contentsOf: path), as: .document))
    }

    @Test(
        arguments: [
            ("method", ["request", "serialization"]), ("request", DefinitionReader.requestKeys),
            ("header", [DefinitionReader.excludeKey]), ("serialization", DefinitionReader.serializationKeys),
        ])
    func `schema and reader have the same keys`(name: String, keys: [String]) throws {
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
}
