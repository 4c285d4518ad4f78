import Backplane
import BackplaneDocuments
import BackplaneNetwork
import Foundation
import Testing

@testable import BackplaneDefinitions

struct ArgumentTests {
    private func json(_ value: (any Encodable)?) throws -> String {
        String(decoding: try Argument(value, at: 0).value.json, as: UTF8.self)
    }

    class Node: Encodable {
        var next: Node?
        var name = "n"
    }
    final class Leaf: Node {
        var extra = 1
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(extra, forKey: .extra)
            try super.encode(to: container.superEncoder())
        }
        enum Keys: CodingKey { case extra }
    }
    struct Mixed: Encodable {
        var data = Data([1, 2, 3]), url = URL(string: "https://example.org/ü")!, decimal = Decimal(string: "1.10")!
        var date = Date(timeIntervalSinceReferenceDate: 1.5), float: Float = 0.1, optional: Int? = nil
        var nested = [["a": [1, nil]]], key = ["x": true]
    }
    struct Enumerated: Encodable {
        enum Kind: String, Encodable { case whale }
        enum Shape: Encodable { case round(radius: Int) }
        var kind = Kind.whale, shape = Shape.round(radius: 2)
    }
    struct Empty: Encodable {}

    @Test func `a value is encoded as JSON encoders do it`() throws {
        #expect(
            try json(Mixed())
                == #"{"data":"AQID","date":1.5,"decimal":1.1,"float":0.1,"key":{"x":true},"nested":[{"a":[1,null]}],"url":"https://example.org/%C3%BC"}"#
        )
        #expect(try json(Enumerated()) == #"{"kind":"whale","shape":{"round":{"radius":2}}}"#)
        #expect(try json(Leaf()) == #"{"extra":1,"super":{"name":"n"}}"#)
        #expect(try json(Empty()) == "{}")
        #expect(try json([Int]()) == "[]")
        #expect(try json([String: Int]()) == "{}")
        #expect(try json(nil) == "null")
        #expect(try json(Optional<Int>.none) == "null")
        #expect(try json(Int64.min) == "-9223372036854775808")
    }

    @Test func `a value that is nested too deeply is an error`() {
        let node = Node()
        var last = node
        for _ in 0...DocumentLimits.depth {
            let next = Node()
            (last.next, last) = (next, next)
        }
        #expect(throws: BackplaneError.self) { try json(node) }
    }

    @Test func `a number beyond 64 bits is sent exactly or not at all`() throws {
        let body = try DefinedRequest(#"{"path": "a/%0", "method": "POST", "body": {"id": "%0"}}"#)
        #expect(throws: BackplaneError.self) { try body.made(UInt64.max) }
        let model = try DefinedRequest(#"{"path": "a?%0"}"#)
        #expect(throws: BackplaneError.self) { try model.made(["id": UInt64.max]) }
        #expect(try model.made(["id": UInt64(Int64.max)]).url.hasSuffix("id=9223372036854775807"))
    }

    @Test func `numbers that are not finite are errors, deep inside too`() {
        #expect(throws: BackplaneError.self) { try json(Double.infinity) }
        #expect(throws: BackplaneError.self) { try json(["a": [Float.nan]]) }
    }

    @Test func `an error of a type's own is reported`() {
        struct Broken: Encodable {
            struct Reason: Error {}
            func encode(to encoder: any Encoder) throws { throw Reason() }
        }
        #expect { try json(Broken()) } throws: { ($0 as? BackplaneError)?.code == .definitionArguments }
    }
}
