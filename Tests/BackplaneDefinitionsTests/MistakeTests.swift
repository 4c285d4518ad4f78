import Backplane
import BackplaneDocuments
import Foundation
import TestFixtures
import Testing

@testable import BackplaneDefinitions

/// Every mistake that a definition can have, each with its place and its code.
struct MistakeTests {
    /// A mistake in the value of `/m/request`.
    struct Mistake: CustomTestStringConvertible, Sendable {
        var request: String
        var place: String
        var code: BackplaneError.Code
        var word: String
        var testDescription: String { request }

        init(_ request: String, _ place: String, _ code: BackplaneError.Code, _ word: String) {
            (self.request, self.place, self.code, self.word) = (request, place, code, word)
        }
    }

    static let errors: [Mistake] = [
        Mistake("[]", "", .definitionWrongType, "an array"),
        Mistake(#"{"path": 1}"#, "/path", .definitionWrongType, "an integer"),
        Mistake(#"{"path": "%1"}"#, "/path", .definitionIndicator, "`%{1}` refers to no argument"),
        Mistake(#"{"path": "%{x}"}"#, "/path", .definitionIndicator, "not an indicator"),
        Mistake(#"{"path": "%0[a"}"#, "/path", .definitionIndicator, "no `]`"),
        Mistake(#"{"path": "%0[.a]"}"#, "/path", .definitionIndicator, "without a name"),
        Mistake(#"{"path": "%{123}"}"#, "/path", .definitionIndicator, "at most 100"),
        Mistake(#"{"path": "http://example.org/"}"#, "/path", .definitionInvalidValue, "full URL"),
        Mistake(
            #"{"path": "http://%0.example.org/", "allowsFullURL": true}"#, "/path", .definitionInvalidValue, "host"),
        Mistake(
            #"{"path": "http://u:p@example.org/", "allowsFullURL": true}"#, "/path", .definitionInvalidValue, "host"),
        Mistake(#"{"path": "a", "allowsFullURL": "yes"}"#, "/allowsFullURL", .definitionWrongType, "a boolean"),
        Mistake(#"{"path": "a", "method": ""}"#, "/method", .definitionInvalidValue, "empty"),
        Mistake(#"{"path": "a", "method": "GET "}"#, "/method", .definitionInvalidValue, "token"),
        Mistake(#"{"path": "a", "method": "CONNECT"}"#, "/method", .definitionInvalidValue, "tunnel"),
        Mistake(#"{"path": "a", "method": "TRACE", "body": "x"}"#, "", .definitionInvalidValue, "TRACE"),
        Mistake(#"{"path": "a", "method": true}"#, "/method", .definitionWrongType, "a boolean"),
        Mistake(
            #"{"path": "a", "sessionType": "Upload"}"#, "/sessionType", .definitionInvalidValue, "`UploadTask`"),
        Mistake(#"{"path": "a", "header": "x"}"#, "/header", .definitionWrongType, "expected a dictionary"),
        Mistake(#"{"path": "a", "header": ["x"]}"#, "/header", .definitionWrongType, "an array"),
        Mistake(#"{"path": "a", "header": {"X A": "1"}}"#, "/header/X A", .definitionInvalidValue, "token"),
        Mistake(#"{"path": "a", "header": {"X": ["1"]}}"#, "/header/X", .definitionWrongType, "an array"),
        Mistake(#"{"path": "a", "header": {"X": "a\r\nb"}}"#, "/header/X", .definitionInvalidValue, "line break"),
        Mistake(#"{"path": "a", "header": {"X": "%5"}}"#, "/header/X", .definitionIndicator, "no argument"),
        Mistake(
            #"{"path": "a", "header": {"excludeSharedHeader": "x"}}"#, "/header/excludeSharedHeader",
            .definitionWrongType, "a string"),
        Mistake(#"{"path": "a", "body": 1}"#, "/body", .definitionWrongType, "an integer"),
        Mistake(#"{"path": "a", "body": ["%7"]}"#, "/body/0", .definitionIndicator, "no argument"),
        Mistake(#"{"path": "a", "body": {"a": {"b": "%7"}}}"#, "/body/a/b", .definitionIndicator, "no argument"),
        Mistake(#"{"path": "a", "parameters": []}"#, "/parameters", .definitionWrongType, "an array"),
        Mistake(#"{"path": "a", "parameters": "x %0"}"#, "/parameters", .definitionWrongType, "a dictionary"),
        Mistake(#"{"path": "a", "parameters": {"a": {}}}"#, "/parameters/a", .definitionWrongType, "a dictionary"),
        Mistake(#"{"path": "a", "parameters": {"a": "%3"}}"#, "/parameters/a", .definitionIndicator, "no argument"),
        Mistake(
            #"{"path": "a", "sessionType": "UploadTask", "files": 1}"#, "/files", .definitionWrongType, "an integer"),
        Mistake(
            #"{"path": "a", "sessionType": "UploadTask", "files": "x%0"}"#, "/files", .definitionIndicator,
            "nothing else"
        ),
        Mistake(
            #"{"path": "a", "sessionType": "UploadTask", "files": ["%0", 2]}"#, "/files/1", .definitionWrongType,
            "an integer"),
    ]

    static let warnings: [Mistake] = [
        Mistake(#"{"pth": "%0", "path": "%0"}"#, "/pth", .definitionUnknownKey, "`path`"),
        Mistake(#"{"header": {"X": "%0"}}"#, "/path", .definitionMissingKey, "base URL"),
        Mistake(#"{"path": "%0/%0a"}"#, "/path", .definitionIndicator, "`%{0}`"),
        Mistake(#"{"path": "%0/100% x"}"#, "/path", .definitionIndicator, "`%%`"),
        Mistake(#"{"path": "%0#top"}"#, "/path", .definitionIgnored, "fragment"),
        Mistake(
            #"{"path": "a", "method": "POST", "parameters": {}, "body": "%0"}"#, "/body", .definitionIgnored,
            "parameters"),
        Mistake(#"{"path": "a", "header": {"Host": "%0"}}"#, "/header/Host", .definitionIgnored, "client"),
        Mistake(#"{"path": "a", "files": "%0"}"#, "/files", .definitionIgnored, "UploadTask"),
        Mistake(
            #"{"path": "a", "sessionType": "UploadTask", "files": "%0", "body": "x"}"#, "/body", .definitionIgnored,
            "files"),
        Mistake(#"{"path": "%0", "parameters": {"a": "1"}}"#, "/parameters", .definitionIgnored, "query"),
        Mistake(
            #"{"path": "%0", "method": "HEAD", "parameters": {"a": "1"}}"#, "/parameters", .definitionIgnored,
            "`HEAD`"),
        Mistake(
            #"{"path": "%0", "header": {"Content-Length": "1"}}"#, "/header/Content-Length", .definitionIgnored,
            "client"),
        Mistake(#"{"path": "%0", "header": {"host": "a.org"}}"#, "/header/host", .definitionIgnored, "client"),
    ]

    private func problems(
        _ text: String, serializers: [String]? = nil, models: [String]? = nil
    ) -> [DefinitionProblem] {
        DefinitionDocument(parsing: Data(text.utf8), path: nil, serializers: serializers, models: models).problems
    }

    @Test(arguments: errors)
    func `a mistake in a request is an error at its place`(mistake: Mistake) throws {
        let found = problems(#"{"m:": {"request": \#(mistake.request)}}"#).filter { $0.severity == .error }
        try expect(found, mistake)
    }

    @Test(arguments: warnings)
    func `what the originals ignored silently is a warning at its place`(mistake: Mistake) throws {
        let found = problems(#"{"m:": {"request": \#(mistake.request)}}"#)
        #expect(found.allSatisfy { $0.severity == .warning })
        try expect(found, mistake)
    }

    private func expect(_ found: [DefinitionProblem], _ mistake: Mistake) throws {
        #expect(found.count == 1, "\(found)")
        let problem = try #require(found.first)
        #expect(problem.error.location == "/m:/request" + mistake.place)
        #expect(problem.error.code == mistake.code)
        #expect(problem.error.message.contains(mistake.word), "\(problem.error)")
        #expect(problem.position?.line == 1)
    }

    @Test(
        arguments: [
            ("[]", "", .definitionMalformed), (#"{"m": 1}"#, "/m", .definitionWrongType),
            (#"{"m": {}}"#, "/m/request", .definitionMissingKey), (#"{"a:b": {}}"#, "/a:b", .definitionInvalidValue),
            (#"{"": {}}"#, "/", .definitionInvalidValue),
            (
                #"{"m:": {"request": {"path": "%0"}}, "m:completionBlock:": {"request": {"path": "%0"}}}"#,
                "/m:completionBlock:", .definitionInvalidValue
            ),
            (#"{"m": {"request": {"path": "%0"}}, "m:": {"request": {"path": "%0"}}}"#, "/m:", .definitionInvalidValue),
            (#"{"m": {"request": {"path": "x"}, "serialization": []}}"#, "/m/serialization", .definitionWrongType),
            (
                #"{"m": {"request": {"path": "x"}, "serialization": {"serializer": 1}}}"#,
                "/m/serialization/serializer",
                .definitionWrongType
            ),
            (
                #"{"m": {"request": {"path": "x"}, "serialization": {"serializedObject": ""}}}"#,
                "/m/serialization/serializedObject", .definitionInvalidValue
            ),
            (
                #"{"m": {"request": {"path": "x", "sessionType": "UploadTask"}}, "n:": {"request": 1}}"#, "/n:/request",
                .definitionWrongType
            ),
            (
                #"{"mWithCompletionBlock:": {"request": {"path": "x", "sessionType": "UploadTask"}}}"#,
                "/mWithCompletionBlock:", .definitionMissingKey
            ),
        ] as [(String, String, BackplaneError.Code)])
    func `so is a mistake around requests`(text: String, place: String, code: BackplaneError.Code) throws {
        let found = problems(text).filter { $0.severity == .error }
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.error.location == place)
        #expect(found.first?.error.code == code)
    }

    @Test func `unknown serializers and models are errors that list what exists`() {
        let text =
            #"{"m": {"request": {"path": "x"}, "serialization": {"serializator": "XML", "serializedObject": "Pharmcy"}}}"#
        let found = problems(text, serializers: ["NCJSONSerializer"], models: ["Book", "Pharmacy"])
        #expect(found.map(\.error.code) == [.definitionUnknownName, .definitionUnknownName])
        #expect(found.first?.error.message.contains("`NCJSONSerializer`") == true)
        #expect(found.last?.error.message.contains("`Pharmacy`, `Book`") == true)
        #expect(problems(text).isEmpty)
    }

    @Test func `all mistakes are found at once, with line and column in JSON`() throws {
        let json = """
            {
              "a": {"request": {"path": 1}},
              "b": {
                "request": {"path": "x", "method": "G T"}
              },
              "c": {}
            }
            """
        #expect(
            problems(json).map { $0.position?.description } == [
                "line 2, column 21", "line 4, column 30", "line 6, column 3",
            ])
        let xml = """
            <?xml version="1.0"?>
            <plist version="1.0"><dict>
              <key>a</key><dict><key>request</key><dict><key>path</key><integer>1</integer></dict></dict>
              <key>b</key><dict><key>request</key><dict>
                <key>path</key><string>x</string>
                <key>files</key><array><string>%0</string><real>1.5</real></array><key>sessionType</key><string>UploadTask</string>
              </dict></dict>
            </dict></plist>
            """
        let found = problems(xml)
        #expect(found.map(\.error.location) == ["/a/request/path", "/b/request/files/1"])
        #expect(found.allSatisfy { $0.position == nil })
    }

    @Test func `a thrown error has all mistakes as its causes, with their places`() throws {
        let text = Data(#"{"a": {"request": {"path": 1}}, "b": {}}"#.utf8)
        let document = DefinitionDocument(parsing: text, path: "x.json")
        let error = #expect(throws: BackplaneError.self) { try document.requireSound() }
        #expect(error?.location == "x.json")
        #expect(
            error?.causes.map(\.location) == ["x.json:1:20: /a/request/path", "x.json:1:33: /b/request"])
    }

    @Test func `a problem is printed as its severity, its place and its words`() {
        #expect(
            problems(#"{"m": {"request": {"path": 1}}}"#).map(\.description) == [
                "error: line 1, column 20: /m/request/path: definition.wrong-type: expected a string, found an integer"
            ])
    }

    @Test(arguments: ["", "{", "<plist>", "bplist00", #"{"a": 1, "a": 2}"#, "\u{FEFF}", "<dict><key>a</key></dict>"])
    func `what is not well-formed is one error`(text: String) {
        #expect(problems(text).map(\.error.code) == [.definitionMalformed])
    }
}

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
