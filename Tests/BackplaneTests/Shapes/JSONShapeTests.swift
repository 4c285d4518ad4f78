import Foundation
import Testing

@testable import Backplane

/// What decoding a type once tells of its JSON.
@Suite struct JSONShapeTests {
    private struct Book: Codable {
        var title: String
        var year: Int
        var price: Double?
        var note: String?
        var isLent: Bool
        var tags: [String]
        var counts: [String: Int]
        var form: Form
        var added: Date
        var cover: URL?
        var series: Series?
    }
    private enum Form: String, Codable, CaseIterable { case paper, screen }
    private enum Unlisted: String, Codable { case one, two }
    private enum Cases: Codable { case circle(radius: Double), point }
    private struct Series: Codable {
        var name: String
        var next: [Series]
    }
    private struct WithUnlisted: Codable {
        var first: Int
        var choice: Unlisted
        var last: Int
    }
    private struct Renamed: Codable {
        var value: Int
        enum CodingKeys: String, CodingKey { case value = "the value" }
    }
    private struct Wrapped: Codable {
        var text: String
        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    }
    private struct Even: Codable {
        var number: Int
        init(from decoder: any Decoder) throws {
            number = try decoder.singleValueContainer().decode(Int.self)
            guard number > 0 else { throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "odd")) }
        }
    }
    private struct Opaque {}

    private func text(_ type: Any.Type) -> String { ShapeRecorder.shape(of: type).description }

    @Test func `properties stand in the order of decoding, with what they are and which may lack`() {
        #expect(
            text(Book.self)
                == #"{"title": string, "year": integer, "price": number?, "note": string?, "isLent": boolean, "tags": [string], "counts": {string: integer}, "form": "paper" | "screen", "added": number, "cover": string?, "series": {"name": string, "next": [any JSON]}?}"#
        )
    }

    @Test func `simple types are simple`() {
        #expect(text(String.self) == "string" && text(Int64.self) == "integer" && text(Float.self) == "number")
        #expect(text(Nothing.self) == "null" && text(Bool.self) == "boolean" && text(UInt8.self) == "integer")
        #expect(text([[Int]].self) == "[[integer]]" && text([Int?].self) == "[integer]")
        #expect(text(Wrapped.self) == "string" && text(Form.self) == #""paper" | "screen""#)
        #expect(text(Renamed.self) == #"{"the value": integer}"#)
        #expect(text(Set<String>.self) == "[string]" && text([Int: Bool].self) == "{string: boolean}")
    }

    @Test func `a type that refuses what it is given is known up to there`() {
        #expect(text(WithUnlisted.self) == #"{"first": integer, "choice": string, …}"#)
        #expect(text(Even.self) == "integer")
        #expect(text([Even].self) == "[integer]")
    }

    @Test func `what cannot be recorded is any JSON`() {
        #expect(text(Cases.self) == "any JSON" && text(Opaque.self) == "any JSON")
    }

    @Test func `a shape is the same after it has crossed as a JSON Schema`() throws {
        for type in [Book.self, Series.self, WithUnlisted.self, Form.self, [String: [Int]].self, Nothing.self, Cases.self]
            as [Any.Type]
        {
            let shape = ShapeRecorder.shape(of: type)
            let data = try JSONEncoder().encode([shape])
            #expect(try JSONDecoder().decode([JSONShape].self, from: data) == [shape], "\(type)")
        }
    }

    @Test func `an example is JSON that the type decodes`() throws {
        for type in [Book.self, Series.self, Renamed.self, Form.self, Wrapped.self, [Int].self, Nothing.self, Bool.self]
            as [any Decodable.Type]
        {
            let example = try #require(ShapeRecorder.shape(of: type).example, "\(type)")
            #expect(throws: Never.self, "\(type): \(example)") {
                _ = try JSONDecoder().decode(type, from: Data(example.utf8))
            }
        }
        #expect(ShapeRecorder.shape(of: WithUnlisted.self).example == nil, "too little is known of it")
    }
}
