import Backplane
import BackplaneDocuments
import BackplaneNetwork
import Foundation
import Testing

@testable import BackplaneDefinitions

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
