import Backplane
import BackplaneDocuments
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

/// Files that arguments name, in a program and inside a component.
@Suite(.timeLimit(.minutes(1)))
struct FileArgumentTests {
    /// A component's folder with a file `a.txt`, beside a file `b.txt` that is not in it.
    private final class Place {
        let root = FileManager.default.temporaryDirectory.appending(path: "files-\(UUID().uuidString)").path
        var folder: String { root + "/own" }

        init() throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data("AAA".utf8).write(to: URL(filePath: folder + "/a.txt"))
            try Data("BBBB".utf8).write(to: URL(filePath: root + "/b.txt"))
        }

        deinit { try? FileManager.default.removeItem(atPath: root) }

        func link(_ name: String, to target: String) throws {
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: target)
        }

        var files: FileArguments { FileArguments(folder: folder) }

        /// The content of the part that a file becomes.
        func content(_ path: String) async throws -> String {
            let body = HTTPBody.multipart([try files.part(FilePart("f", path: path))])
            return String(decoding: try await body.open().collect(upTo: 1 << 20), as: UTF8.self)
        }
    }

    @Test func `a path is relative to the component's folder`() async throws {
        let place = try Place()
        #expect(try await place.content("a.txt").contains("filename=\"a.txt\""))
        #expect(try await place.content(place.folder + "/a.txt").contains("AAA"))
        #expect(try await place.content(place.root + "/b.txt").contains("BBBB"), "a program's own code chose it")
    }

    @Test func `a link out of the folder is refused, and one inside is followed`() async throws {
        let place = try Place()
        try place.link("out.txt", to: "../b.txt")
        try place.link("up", to: "..")
        try place.link("in.txt", to: "a.txt")
        for path in ["out.txt", "up/b.txt", "../b.txt", place.folder + "/out.txt", place.folder + "/../b.txt"] {
            let error = try #require(throws: BackplaneError.self) { try place.files.part(FilePart("f", path: path)) }
            #expect(error.code == .fileRefused, "\(path)")
        }
        #expect(try await place.content("in.txt").contains("filename=\"in.txt\""))
    }

    @Test(arguments: ["none.txt", ".", "sub\0path"])
    func `a missing file, a folder and a zero byte are errors when the request is sent`(path: String) async throws {
        let place = try Place()
        let error = await #expect(throws: BackplaneError.self) { try await place.content(path) }
        #expect(error?.code == .networkBody || error?.code == .fileRefused)
    }

    @Test func `a described file has the size that it had, or is in the folder`() throws {
        let place = try Place(), outside = place.root + "/b.txt"
        func part(_ path: String, _ size: Int? = nil) throws(BackplaneError) -> HTTPPart? {
            var members: [String: DocumentValue] = ["path": .string(path)]
            members["size"] = size.map { .integer(Int64($0)) }
            return try place.files.part(.dictionary(members), of: "f")
        }
        #expect(try part("a.txt") != nil)
        #expect(try part("a.txt", 3) != nil)
        #expect(try part(outside, 4) != nil)
        #expect(throws: BackplaneError.self) { try part(outside) }
        #expect(throws: BackplaneError.self) { try part(outside, 5) }
        #expect(throws: BackplaneError.self) { try part(place.root + "/none", 5) }
        #expect(throws: BackplaneError.self) { try part(place.root, 5) }
        #expect(try place.files.part(["name": "no path"], of: "f") == nil)
    }

    @Test func `a program's paths are its own`() throws {
        let files = FileArguments(folder: nil)
        #expect(try files.part(["path": "/etc/hostname"], of: "f") != nil)
    }
}

struct HeaderTests {
    @Test func `text around indicators stays, and several may be in one field`() throws {
        let defined = try DefinedRequest(
            #"{"path": "a", "header": {"X-Range": "from %0 to %1[end]", "X-Share": "100%%"}}"#)
        let request = try defined.made(1, ["end": "9 €"])
        #expect(request.headers["X-Range"] == "from 1 to 9 €")
        #expect(request.headers["X-Share"] == "100%")
    }

    @Test func `the call goes before the definition, and that before shared fields`() throws {
        let defined = try DefinedRequest(
            #"{"path": "a", "header": {"x-b": "definition", "X-C": "definition"}}"#,
            shared: ["X-A": "shared", "X-B": "shared", "X-C": "shared"])
        let request = try defined.made(adding: ["x-c": "call", "X-D": "1", "X-D": "2"])
        #expect(request.headers.values("X-A") == ["shared"])
        #expect(request.headers.values("X-B") == ["definition"])
        #expect(request.headers.values("X-C") == ["call"])
        #expect(request.headers.values("X-D") == ["1", "2"])
    }

    @Test func `a header may be the properties of an argument`() throws {
        let defined = try DefinedRequest(#"{"path": "a", "header": "%0"}"#, shared: ["X-A": "shared"])
        let request = try defined.made(["X-A": "1", "X-B": " b "])
        #expect(request.headers == ["X-A": "1", "X-B": "b"])
        for wrong in [["X A": "1"], ["X": "a\r\nb"], ["Host": "evil.example.org"]] {
            #expect(throws: BackplaneError.self) { try defined.made(wrong) }
        }
    }

    @Test(arguments: [("get", "GET"), ("Post", "POST"), ("patch", "PATCH"), ("m-search", "m-search")])
    func `a method that servers know is sent in upper case`(method: String, sent: String) throws {
        #expect(try DefinedRequest(#"{"path": "a", "method": "\#(method)"}"#).made().method == sent)
    }

    @Test func `every kind of exchange has shared fields, unless they are excluded`() throws {
        for (header, expected) in [
            ("{}", "a"), (#"{"excludeSharedHeader": true}"#, nil), (#"{"excludeSharedHeader": 1}"#, nil),
        ] {
            for type in ["DataTask", "DownloadTask"] {
                let defined = try DefinedRequest(
                    #"{"path": "a", "sessionType": "\#(type)", "header": \#(header)}"#, shared: ["X-A": "a"])
                #expect(try defined.made().headers["X-A"] == expected)
                let prepared = try defined.service.m.prepared([])
                let download = try prepared.endpoint(to: "file").request(prepared.client.defaults)
                #expect(download.headers["X-A"] == expected)
            }
            let upload = try DefinedRequest(
                #"{"path": "a", "sessionType": "UploadTask", "header": \#(header)}"#, as: "m:", shared: ["X-A": "a"])
            #expect(try upload.made(Data("x".utf8)).headers["X-A"] == expected)
        }
    }

    @Test func `a field whose argument is nil is left out`() throws {
        let defined = try DefinedRequest(#"{"path": "a", "header": {"X-A": "id %0", "X-B": "%1"}}"#)
        #expect(try defined.made(nil, true).headers == ["X-B": "true"])
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\u{0}", "\u{7F}", "\u{1B}[0m"])
    func `an argument cannot end a field`(argument: String) throws {
        let defined = try DefinedRequest(#"{"path": "a", "header": {"X-A": "id %0"}}"#)
        #expect { try defined.made(argument) } throws: { error in
            let error = error as? BackplaneError
            return error?.code == .definitionArguments && error?.message.contains("Evil") == false
        }
        #expect(throws: BackplaneError.self) { try defined.made("fine", adding: ["X-B": argument]) }
        #expect(throws: BackplaneError.self) { try defined.made("fine", adding: ["X B": "1"]) }
    }
}
