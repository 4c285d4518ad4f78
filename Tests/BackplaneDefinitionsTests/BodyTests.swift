import Backplane
import BackplaneNetwork
import Foundation
import Testing

@testable import BackplaneDefinitions

@Suite(.timeLimit(.minutes(1)))
struct BodyTests {
    struct Book: Encodable {
        var title: String
        var year: UInt64
        var author: [String: String]?
    }

    // MARK: Raw bodies

    @Test func `data that no indicator names is the body`() throws {
        let defined = try DefinedRequest(
            #"{"path": "a/%0", "method": "PUT"}"#, as: "m:data:completionBlock:")
        let request = try defined.made("x", Data("raw".utf8))
        #expect(request.text == "raw")
        #expect(request.body.mediaType == "application/octet-stream")
        let plain = try DefinedRequest(#"{"path": "a/%0", "method": "PUT"}"#)
        #expect(try plain.made("x", [UInt8]("raw".utf8)).text == "raw")
        #expect(try plain.made("x").body.isEmpty)
    }

    @Test func `two such arguments, or one that is not data, are errors`() throws {
        let two = try DefinedRequest(#"{"path": "a", "method": "PUT"}"#, as: "m:and:")
        #expect(throws: BackplaneError.self) { try two.made(Data([1]), Data([2])) }
        let plain = try DefinedRequest(#"{"path": "a", "method": "PUT"}"#)
        #expect(throws: BackplaneError.self) { try plain.made("text") }
        let form = try DefinedRequest(#"{"path": "a", "method": "POST", "parameters": {"a": "1"}}"#, as: "m:")
        #expect(throws: BackplaneError.self) { try form.made(Data([1])) }
    }

    @Test(
        arguments: [
            #"{"path": "a", "method": "POST", "parameters": {"x": "%0"}, "body": "%1"}"#,
            #"{"path": "a", "method": "POST", "parameters": {"x": "%0"}, "body": {"b": ["%1"]}}"#,
            #"{"path": "a", "method": "POST", "parameters": {"x": "%0"}, "files": "%1"}"#,
        ])
    func `an argument that only an ignored value names is not a fault`(request: String) throws {
        for key in ["m", "m:data:completionBlock:"] {
            let defined = try DefinedRequest(request, as: key)
            #expect(defined.service.warnings.map(\.error.code) == [.definitionIgnored])
            #expect(try defined.made("v", Data([1])).text == "x=v")
        }
    }

    @Test func `a body is an argument: data, text, or JSON of anything else`() throws {
        let defined = try DefinedRequest(#"{"path": "a", "method": "POST", "body": "%0"}"#)
        let book = try defined.made(Book(title: "Moby-Dick \"or\"\n", year: .max))
        #expect(book.text == #"{"title":"Moby-Dick \"or\"\n","year":18446744073709551615}"#)
        #expect(book.body.mediaType == "application/json")
        #expect(try defined.made([1, 2]).text == "[1,2]")
        #expect(try defined.made(Data("x".utf8)).body.mediaType == "application/octet-stream")
        #expect(try defined.made("text").body.mediaType == "text/plain; charset=utf-8")
        #expect(try defined.made(nil).body.isEmpty)
    }

    @Test func `a body of JSON takes arguments as values, and cannot be broken by them`() throws {
        let defined = try DefinedRequest(
            #"{"path": "a", "method": "POST", "body": {"title": "%0", "note": "by %0[author.name]", "n": 1, "all": ["%1", null]}}"#,
            as: "m:x:")
        let book = Book(title: "\"}", year: 1851, author: ["name": "\"M\""])
        let text = try #require(try defined.made(book, 2.0).text)
        #expect(
            text
                == #"{"all":[2,null],"n":1,"note":"by \"M\"","title":{"author":{"name":"\"M\""},"title":"\"}","year":1851}}"#
        )
    }

    @Test func `a text with indicators is a body, too`() throws {
        let defined = try DefinedRequest(#"{"path": "a", "method": "POST", "body": "<id>%0</id>"}"#)
        #expect(try defined.made(7).text == "<id>7</id>")
        #expect(throws: BackplaneError.self) { try defined.made(nil) }
    }

    @Test func `a TRACE request has no body`() throws {
        let defined = try DefinedRequest(#"{"path": "a", "method": "TRACE"}"#)
        #expect(throws: BackplaneError.self) { try defined.made(Data([1])) }
        #expect(throws: BackplaneError.self) {
            try DefinedRequest(#"{"path": "a", "method": "TRACE", "body": "%0"}"#)
        }
    }

    // MARK: Forms

    @Test func `parameters are a form, encoded byte by byte`() throws {
        let defined = try DefinedRequest(
            #"{"path": "a", "method": "POST", "parameters": {"q": "%0", "a[b].c": "x %1", "n": 5, "none": "%2"}}"#,
            as: "m:x:y:")
        let request = try defined.made("a&b=c+d ü%0", true, nil)
        #expect(request.text == "a%5Bb%5D.c=x+true&n=5&q=a%26b%3Dc%2Bd+%C3%BC%250")
        #expect(request.body.mediaType == "application/x-www-form-urlencoded")
    }

    @Test func `parameters of a GET request are in the query`() throws {
        let defined = try DefinedRequest(#"{"path": "a?x=1", "parameters": {"q": "%0"}}"#)
        let request = try defined.made("a&b")
        #expect(request.url == "https://example.org/v1/a?x=1&q=a%26b")
        #expect(request.body.isEmpty)
        #expect(defined.service.warnings.map(\.error.code) == [.definitionIgnored])
    }

    @Test func `parameters may be the properties of an argument`() throws {
        let defined = try DefinedRequest(#"{"path": "a", "method": "POST", "parameters": "%0"}"#)
        #expect(try defined.made(["b": "2", "a": "1"]).text == "a=1&b=2")
        #expect(throws: BackplaneError.self) { try defined.made("text") }
    }

    // MARK: Files

    @Test func `files and parameters are a multipart form, the files in their order`() async throws {
        let defined = try DefinedRequest(
            #"{"path": "a", "sessionType": "UploadTask", "parameters": {"title": "%0"}, "files": "%1"}"#,
            as: "send:pictures:completionBlock:")
        let files = [
            FilePart("b", bytes: Array("BBB".utf8), fileName: "b\".txt", type: "text/plain"),
            FilePart("a", bytes: Array("AAA".utf8), fileName: "a\r\n.txt"),
        ]
        let prepared = try defined.service.send.prepared(["Whale", files])
        let request = try prepared.endpoint(Data.self).request(prepared.client.defaults)
        #expect(request.method == "POST")
        let type = try #require(request.body.mediaType)
        let boundary = try #require(type.split(separator: "boundary=").last)
        #expect(
            try await request.wholeText()
                == [
                    "--\(boundary)", #"Content-Disposition: form-data; name="title""#, "", "Whale",
                    "--\(boundary)", #"Content-Disposition: form-data; name="b"; filename="b%22.txt""#,
                    "Content-Type: text/plain", "", "BBB",
                    "--\(boundary)", #"Content-Disposition: form-data; name="a"; filename="a%0D%0A.txt""#,
                    "Content-Type: application/octet-stream", "", "AAA",
                    "--\(boundary)--", "",
                ].joined(separator: "\r\n"))
    }

    @Test func `a file may be a property of an argument`() async throws {
        struct Post: Encodable {
            var cover: FilePart
        }
        let defined = try DefinedRequest(#"{"path": "a", "sessionType": "UploadTask", "files": ["%0[cover]"]}"#)
        let cover = FilePart("c", bytes: Array("CCC".utf8), fileName: "c.png")
        #expect(try await defined.made(Post(cover: cover)).wholeText().contains("CCC"))
        #expect(throws: BackplaneError.self) { try defined.made("text") }
    }

    @Test func `an upload without a body is an error`() throws {
        let defined = try DefinedRequest(#"{"path": "a", "sessionType": "UploadTask"}"#, as: "m:")
        #expect(try defined.made(Data()).method == "POST")
        #expect(throws: BackplaneError.self) { try defined.made(nil) }
        let put = try DefinedRequest(#"{"path": "a", "method": "PUT", "sessionType": "UploadTask"}"#, as: "m:")
        #expect(try put.made(Data([1])).method == "PUT")
    }
}
