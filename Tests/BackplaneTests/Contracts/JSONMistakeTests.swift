import Backplane
import Foundation
import Testing

/// What is said about JSON of another shape than a type has.
@Suite struct JSONMistakeTests {
    private struct Place: Decodable {
        var name: String
        var position: [Double]
        var visits: [String: Int]
        var next: [Stop]
    }
    private struct Stop: Decodable {
        var isOpen: Bool
    }
    private struct Whole: Decodable {}

    private func mistake<Value: Decodable>(_ type: Value.Type, _ json: String) -> String? {
        do throws(BackplaneError) {
            _ = try JSON.decode(type, Array(json.utf8), failing: .callInvalidInput)
            return nil
        } catch {
            return [error.location, error.message].compactMap(\.self).joined(separator: ": ")
        }
    }

    @Test(arguments: [
        (#""Oslo""#, "expected an object, found a string"), ("[]", "expected an object, found an array"),
        ("null", "expected an object, found null"), ("7", "expected an object, found a number"),
        ("{}", "/name: `name` is missing"), (#"{"name": 7}"#, "/name: expected a string, found a number"),
        (#"{"name": null}"#, "/name: expected a string, found null"),
        (#"{"name": "a", "position": {}}"#, "/position: expected an array, found an object"),
        (#"{"name": "a", "position": [1, "x"]}"#, "/position/1: expected a number, found a string"),
        (#"{"name": "a", "position": [], "visits": [1]}"#, "/visits: expected an object, found an array"),
        (#"{"name": "a", "position": [], "visits": {"7": {}}}"#, "/visits/7: expected an integer, found an object"),
        (
            #"{"name": "a", "position": [], "visits": {}, "next": [{"isOpen": true}, {"isOpen": 1}]}"#,
            "/next/1/isOpen: expected a boolean, found a number"
        ),
        (
            #"{"name": "a", "position": [], "visits": {}, "next": [true]}"#,
            "/next/0: expected an object, found a boolean"
        ),
    ])
    func `the place is named, what belongs there, and what is there`(json: String, says: String) {
        #expect(mistake(Place.self, json) == says)
    }

    @Test(arguments: ["", "{", "Oslo", "[\"a\"", "{\"a\" 1}"])
    func `what is no JSON is said to be none, with what was met`(text: String) throws {
        let message = try #require(mistake([String].self, text))
        #expect(message.hasPrefix("expected JSON"), "\(message)")
    }

    @Test func `a number that does not fit is not called malformed`() throws {
        struct Small: Decodable { var size: UInt8 }
        #expect(mistake([UInt8].self, "[300]") == "a number is not an integer, or is too large for its type")
        let fraction = try #require(mistake([String: Int].self, #"{"a": 1.5}"#))
        #expect(!fraction.contains("expected JSON") && !fraction.hasSuffix(": "), "\(fraction)")
        let message = try #require(mistake(Small.self, #"{"size": 300}"#))
        #expect(!message.contains("expected JSON"), "\(message)")
    }

    @Test func `JSON that is nested too deeply is not called malformed alone`() throws {
        let depth = 10_000, text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(try #require(mistake([String].self, text)).contains("too deeply nested"))
    }

    @Test func `the words of a type that refuses a value of the right kind are kept`() {
        struct Country: Decodable {
            init(from decoder: any Decoder) throws {
                throw DecodingError.typeMismatch(
                    String.self, .init(codingPath: decoder.codingPath, debugDescription: "a code has two letters"))
            }
        }
        #expect(mistake([Country].self, #"["Norway"]"#) == "/0: a code has two letters")
    }
}
