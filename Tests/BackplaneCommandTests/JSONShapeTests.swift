import Backplane
import Foundation
import Testing

@testable import BackplaneCommand

/// What the layouts of a contract tell of its JSON.
struct ContractShapesTests {
    private struct Book: Codable, Sendable {
        var title: String
        var year: Int
        var price: Double?
        var isLent: Bool
        var tags: [String]
        var counts: [String: Int]
        var form: Form
        var added: Date
        var cover: URL?
        var series: Series?
    }
    private enum Form: String, Codable { case paper, screen }
    private enum Size: Int, Codable { case small = 1, large }
    private enum Cases: Codable { case circle(radius: Double), point }
    private struct Series: Codable, Sendable {
        var name: String
        var next: [Series]
    }
    private struct Tree: Codable, Sendable {
        var name: String
        var kind: Cases?
        var nodes: [Tree]?
        var others: [Tree?]
    }
    private struct Number: RawRepresentable, Codable, Hashable { var rawValue: UInt16 }
    @propertyWrapper private struct Trimmed: Codable { var wrappedValue: String }
    private struct Wrapped: Codable {
        @Trimmed var text: String
    }
    private final class Shared: Codable, Sendable {}

    private struct Shelf: Contract {
        static let version: Version = "1.0.0"
        let find = AsyncMethod<String, Book>()
        let put = SyncMethod<Book, Nothing>()
        let feed = StreamMethod<Nothing, Series>()
    }
    private struct Values: Contract {
        static let version: Version = "1.0.0"
        let sizes = AsyncMethod<[Size], Set<UInt8>>()
        let cases = AsyncMethod<Cases, Version>()
        let numbers = AsyncMethod<[Int: Number?], [Number: Bool]>()
        let files = AsyncMethod<StoredFile, ClosedRange<Int>?>()
        let wrapped = AsyncMethod<Wrapped, BackplaneError>()
        let shared = AsyncMethod<Shared, [[Decimal]]>()
        let versions = AsyncMethod<[Version], UUID>()
        let trees = AsyncMethod<Tree, Cases?>()
    }

    private func shapes<C: Contract>(of _: C.Type) -> ContractShapes {
        ContractShapes(layout: LayoutReader.layouts(of: C.self))
    }

    private static let book =
        #"{"title": string, "year": integer, "price": number?, "isLent": boolean, "tags": [string], "counts": {string: integer}, "form": string (paper | screen), "added": number, "cover": string?, "series": {"name": string, "next": [any JSON]}?}"#

    @Test func `properties stand in the order of declaration, with what they are and which may lack`() {
        let shapes = shapes(of: Shelf.self)
        #expect(shapes.input(of: "find") == .string && shapes.output(of: "find").description == Self.book)
        #expect(shapes.input(of: "put").description == Self.book && shapes.output(of: "put") == .null)
        #expect(shapes.input(of: "feed") == .null)
        #expect(shapes.output(of: "feed").description == #"{"name": string, "next": [any JSON]}"#)
    }

    @Test func `nothing is known without a layout, or of a method that it lacks`() {
        for layout in [nil, "", "nonsense", LayoutReader.layouts(of: Shelf.self)] {
            #expect(ContractShapes(layout: layout).input(of: "none") == .any)
        }
    }

    @Test func `an example is JSON that the type decodes`() throws {
        func decode<Value: Decodable>(_ type: Value.Type, _ example: String?) throws {
            let example = try #require(example)
            _ = try JSONDecoder().decode(type, from: Data(example.utf8))
        }
        let shelf = shapes(of: Shelf.self), values = shapes(of: Values.self)
        try decode(Book.self, shelf.input(of: "put").example)
        try decode(String.self, shelf.input(of: "find").example)
        try decode(Series.self, shelf.output(of: "feed").example)
        try decode([Size].self, values.input(of: "sizes").example)
        try decode([Int: Number?].self, values.input(of: "numbers").example)
        try decode([Version].self, values.input(of: "versions").example)
        try decode(UUID.self, values.output(of: "versions").example)
        try decode(Tree.self, values.input(of: "trees").example)
        try decode(Cases?.self, values.output(of: "trees").example)
        #expect(values.input(of: "trees").example == #"{"name": "text", "others": [null]}"#)
        try decode(StoredFile.self, values.input(of: "files").example)
        #expect(values.input(of: "cases").example == nil, "nothing is known of it")
    }

    @Test func `as JSON a shape is a schema with the order of the properties`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let series = shapes(of: Shelf.self).output(of: "feed")
        #expect(
            String(decoding: try encoder.encode(series), as: UTF8.self)
                == #"{"properties":{"name":{"type":"string"},"next":{"items":{},"type":"array"}},"propertyOrder":["name","next"],"required":["name","next"],"type":"object"}"#
        )
        let files = shapes(of: Values.self).output(of: "files")
        #expect(
            String(decoding: try encoder.encode([files, .optional(.string), .choice(["a"])]), as: UTF8.self)
                == #"[{"anyOf":[{},{"type":"null"}]},{"anyOf":[{"type":"string"},{"type":"null"}]},{"type":"string"}]"#)
    }
}
