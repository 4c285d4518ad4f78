import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Glibc
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHTTP

/// What reaches the server.
@Suite(.timeLimit(.minutes(5)))
struct RequestTests {
    /// Answers each request with its own method, target and body.
    static func echo(_ request: ReceivedRequest, _ connection: TestConnection) {
        connection.answer("200 OK", [("X-Method", request.method), ("X-Target", request.target)], body: request.body)
    }

    @Test(arguments: Engine.allCases)
    func `a redirect to a port that does not exist is refused`(engine: Engine) async throws {
        let server = try TestServer { _, connection in
            connection.answer("302 Found", [("Location", "http://127.0.0.1:99999/")])
        }
        var options = HTTPOptions()
        options.redirects = 20
        let network = HTTPPipeline([engine.executor()]), limited = options
        let error = await error { try await network.send(HTTPRequest("GET", server.url()), limited) }
        #expect(error?.code == .networkRefused && error?.message.contains("99999") == true)
    }

    @Test(
        arguments: [
            ("http://h/a", "http://h/a"),
            ("http://ann:secret@h:80/a?key=secret#secret", "http://h:80/a"),
            ("https://[::1]:8443/a@b", "https://[::1]:8443/a@b"),
            ("file:almanac/events.json", "file:almanac/events.json"),
            ("http://ann:secret@h/a b|%C3%A9", "http://h/a%20b%7C%C3%A9"), ("ann:secret@h/a", "ann:…"),
            ("http://ann:se/cret@h/a", "http:…"),
        ])
    func `a URL is printed without its secrets`(url: String, printed: String) {
        #expect(HTTPRequest("GET", url).printableURL == printed)
    }

    @Test func `methods of the standard are upper-case, and others as they are written`() {
        var request = HTTPRequest("patch", "http://h")
        #expect(request.method == "PATCH")
        request.method = "Get"
        #expect(request.method == "GET" && HTTPRequest("purge", "http://h").method == "purge")
    }

    @Test func `fields are equal whatever the case of their names, and white space is no part of their values`() {
        var headers: HTTPHeaders = ["ETag": "\"v1\" ", "X-Empty": " \t"]
        #expect(headers == ["etag": "\"v1\"", "x-empty": ""])
        #expect(headers != ["etag": "\"V1\"", "x-empty": ""])
        headers["Location"] = "\t/a b "
        #expect(headers["location"] == "/a b")
    }

    @Test(arguments: [("5", 5), ("+5", nil), ("0x5", nil), ("5.0", nil), ("-5", nil), ("", nil)] as [(String, Int64?)])
    func `a length is a number of digits`(text: String, length: Int64?) {
        let response = HTTPResponse(status: 200, headers: ["Content-Length": text])
        #expect(HTTPStreamedResponse(response).contentLength == length)
    }

    @Test func `the fraction of a body is known with its length`() {
        var progress = HTTPProgress()
        #expect(progress.fraction == nil)
        (progress.sent, progress.toSend) = (3, 4)
        #expect(progress.fraction == 0.75)
        (progress.received, progress.toReceive) = (1, 2)
        #expect(progress.fraction == 0.5)
        (progress.received, progress.toReceive) = (0, 0)
        #expect(progress.fraction == 1)
    }
}

/// The bodies of requests, and the streams of both directions.
@Suite(.timeLimit(.minutes(2)))
struct BodyTests {
    private let files: TestFolder
    private var folder: String { files.path }

    init() throws { files = try TestFolder() }

    private func write(_ bytes: [UInt8], as name: String) throws -> String { try files.write(bytes, as: name) }

    private func text(_ body: HTTPBody) async throws -> String {
        String(decoding: try await body.open().collect(upTo: 1 << 20), as: UTF8.self)
    }

    private static func chunks(_ texts: String...) -> AsyncStream<[UInt8]> {
        AsyncStream { stream in
            for text in texts { stream.yield(Array(text.utf8)) }
            stream.finish()
        }
    }

    @Test func `a form is encoded as browsers encode it`() async throws {
        let body = HTTPBody.form(["a b": "c&d=e", "ü*-._~": "\r\n%+", "": ""])
        #expect(try await text(body) == "a+b=c%26d%3De&%C3%BC*-._%7E=%0D%0A%25%2B&=")
        #expect(body.mediaType == "application/x-www-form-urlencoded" && body.isReplayable)
    }

    @Test func `JSON is that of a value, or any JSON`() async throws {
        #expect(try await text(.json(["a": [1, 2]])) == #"{"a":[1,2]}"#)
        #expect(try await text(.json(DocumentValue.dictionary(["a": .null]))) == #"{"a":null}"#)
        let error = #expect(throws: BackplaneError.self) { try HTTPBody.json([Double.infinity]) }
        #expect(error?.code == .networkBody)
    }

    @Test func `a multipart form quotes names, reads files and ends`() async throws {
        let path = try write(Array("epub".utf8), as: "book.epub")
        let body = HTTPBody.multipart(
            [
                .text("a\"\r\nb", "1"), .bytes("c", [50], type: "x/y"),
                .file("d", path, type: "application/epub+zip"),
            ],
            boundary: "B")
        #expect(
            try await text(body) == """
                --B\r
                Content-Disposition: form-data; name="a%22%0D%0Ab"\r
                \r
                1\r
                --B\r
                Content-Disposition: form-data; name="c"\r
                Content-Type: x/y\r
                \r
                2\r
                --B\r
                Content-Disposition: form-data; name="d"; filename="book.epub"\r
                Content-Type: application/epub+zip\r
                \r
                epub\r
                --B--\r

                """)
        #expect(try body.open().length == Int64(try await text(body).utf8.count))
        #expect(body.isReplayable && !body.isStream && body.bytes == nil)
        #expect(try await text(.multipart([], boundary: "B")) == "--B--\r\n")
        #expect(HTTPBody.multipart([]).mediaType != HTTPBody.multipart([]).mediaType)
    }

    @Test func `a form in memory is one piece, and a part whose type has a line break is refused`() async throws {
        let form = HTTPBody.multipart([.text("a", "1"), .bytes("b", [50])], boundary: "B")
        #expect(try await Array(text(form).utf8) == form.bytes && form.isReplayable)
        let error = #expect(throws: BackplaneError.self) {
            try HTTPBody.multipart([.bytes("c", [50], type: "x/y\r\nZ: z")]).open()
        }
        #expect(error?.code == .networkBody && error?.message.contains("part `c`") == true)
    }

    @Test(arguments: [([UInt8](), "missing"), ([UInt8](), ""), ([1], "/dev/null"), ([1], "a\0b")])
    func `what is no file is an error before anything is sent`(bytes: [UInt8], path: String) {
        let error = #expect(throws: BackplaneError.self) { try HTTPBody.file(path).open() }
        #expect(error?.code == .networkBody)
    }

    @Test func `a file that changes while it is sent is an error`() async throws {
        let path = try write([UInt8](repeating: 1, count: 400_000), as: "shrinking")
        let stream = try HTTPBody.file(path).open()
        #expect(try await stream.next()?.count == 128 << 10)
        try #require(truncate(path, 200_000) == 0)
        let error = await #expect(throws: BackplaneError.self) { while try await stream.next() != nil {} }
        #expect(error?.code == .networkBody && error?.message.contains("changed") == true)

        let later = try HTTPBody.multipart([.file("a", path)]).open()
        try #require(truncate(path, 10) == 0)
        await #expect(throws: BackplaneError.self) { while try await later.next() != nil {} }
    }

    @Test func `a stream that is released or given up cancels its producer once`() async throws {
        let cancelled = Mutex(0)
        @Sendable func make() -> HTTPBodyStream {
            HTTPBodyStream(cancel: { cancelled.withLock { $0 += 1 } }) { [1] }
        }
        do { _ = make() }
        #expect(cancelled.withLock { $0 } == 1)
        do {
            let stream = make()
            _ = try await stream.next()
            stream.cancel()
            stream.cancel()
            let error = await #expect(throws: BackplaneError.self) { try await stream.next() }
            #expect(error?.code == .networkBody)
        }
        #expect(cancelled.withLock { $0 } == 2)
        do {
            let stream = HTTPBodyStream(cancel: { cancelled.withLock { $0 += 1 } }) { nil }
            #expect(try await stream.next() == nil)
        }
        #expect(cancelled.withLock { $0 } == 2, "what has ended is not cancelled")
    }

    @Test func `a second reader at the same time is refused`() async throws {
        let gate = TestGate()
        let stream = HTTPBodyStream {
            try await gate.pass()
            return nil
        }
        let first = Task { try await stream.next() }
        try await gate.arrivals()
        let error = await #expect(throws: BackplaneError.self) { try await stream.next() }
        #expect(error?.code == .networkBody)
        gate.open()
        #expect(try await first.value == nil)
    }

    @Test func `a file appears when it is complete, and only its owner may read it`() async throws {
        let path = folder + "/out"
        #expect(try await HTTPBodyStream(Self.chunks("Call ", "me")).write(to: path) == 7)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "Call me")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        struct BodyFailure: Error {}
        let broken = AsyncThrowingStream<[UInt8], any Error> { stream in
            stream.yield([1])
            stream.finish(throwing: BodyFailure())
        }
        await #expect(throws: BodyFailure.self) { try await HTTPBodyStream(broken).write(to: path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["out"])
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "Call me", "what was there stays")
        for wrong in ["", folder + "/missing/out", folder, "a\0b"] {
            let error = await #expect(throws: BackplaneError.self) { try await HTTPBodyStream([1]).write(to: wrong) }
            #expect(error?.code == .networkFile)
        }
    }

    @Test func `names of fields are compared without regard to case`() {
        var headers: HTTPHeaders = ["Set-Cookie": "a", "X-É": "1"]
        headers.add("set-cookie", "b")
        #expect(headers.values("SET-COOKIE") == ["a", "b"] && headers["sEt-cookie"] == "a")
        #expect(headers["X-é"] == nil, "only ASCII has case here")
        headers["SET-cookie"] = nil
        #expect(headers.fields.map(\.name) == ["X-É"])
    }
}

/// The decoder of compressed content, beyond what the conformance suite sends.
struct ContentDecoderTests {
    /// Numbers, a gap, and the numbers again.
    private static let text: [UInt8] = {
        let numbers = (0..<400).map { "\($0 * 7_919 % 1_000)" }.joined(separator: " ")
        return Array((numbers + String(repeating: "x", count: 30_000) + numbers).utf8)
    }()

    /// The text compressed with gzip: a block with its own codes, and a reference over 30,000 bytes.
    private static let compressed = Array(
        Data(
            base64Encoded: """
                H4sIAAAAAAACA+3du2HDMAxF0VUwgvAnN8v4udzB5btVClkBfES3+uz6tZPHttdmx/q2tZdVpmWHxbr5/cy/a3Hs1tqZsT1t+5VNpHWF\
                1bjl+Swul/kxz7Ueu9t2btnxtM2wabfez+pcq+9YxlrUmA/XlaXdCP5w2/kY5zLOYZxlnGGcZpxinDT3sHS7/THOZRw2+Ngg2KCacbjZ\
                YYOPDYIN6uNWjHMYhw2cDbIZpxgnrS4bOBskG9RlHK7jbozz5irGSZvD/B/zB/PnZZzDOMs4zO9tWYyTfC5sLxs4GwQb1GGcZRw2+Ngg\
                2KC4Xdg9bPCxAQaLwWDQGBQGhUFiEBj4vuuM+RE4CCwCg8Ag0AgUAolAIOAIOAIAXAQOAovAIjAINAKFQCKQCAQCjgAAF4H7sQEGi8Fg\
                0BgUBoVBYhAYOAaPgAUgOBAsBAPBQNAQFAQJQUAQEDgECFwIDgQLwUIwEDQEBUHeB8oKEHi92zEPK3ysAMKCMCA0CA1CgZAgBAgOwjNg\
                AwwOBovBYDAYNAaFQWIQGAQGHu8B50M8bBgcDBaDwaAxKAwSg8QgMHAMHsEz4BgcFBaFQaFRaBQKhUQhUHAUHgIbgHBAWBAGhAGhQSgQ\
                EoQAIUBwEDC47xSAcEBYEAaEBqFASBAShMi36ftC+B+sgMJBYVEYFBqFRqFQSBQCBUfB30FgBRQOCovCoDAoNAqFQqIQ913GCiiAcN85\
                QOGgsCgMCo1CoVAoJAqBgqPwEFC4MBwYFoaBoWFoGAqGhCFgcBj8HQV2gOHAsDAsDANDw1AwJAwBQ8DgMKBwYTgwHBgWhqn3M8MDB0PB\
                kDAEDD5PlYHYAYeDw+IwODQOjUPhkDgEDo6Dv8PADjgcHBaH/d4xZQccCofEIXAIHBwHGC4OB4eDw+IwODQOhUPhkDgEDo7DOwwcYSZD\
                YVEYFBqFRqFQSBQCBUfB388RG6BwUFgUFoVBoVEoFBKFRCFQ8Hz2jAMWCgeFRWFQaBQKhUIhUQgUfN7PuDE/BgeDxWCO/ymllFJKKaWU\
                UkoppZRSSimllFJKKaWUUkoppZRSSimllFJKKaWUUkoppZRSSimllFJKKaWUUkoppZRSSimllFJKKaWUUkoppdSP+vT+bL0/W+/P1vuz\
                9f5svT97jv8Do5yvmVCBAAA=
                """)!)

    private func decoded(_ bytes: [UInt8], by size: Int, _ coding: String = "gzip") throws(HTTPFailure) -> [UInt8] {
        guard var decoder = ContentDecoder(["Content-Encoding": coding], ratio: 250) else { return [] }
        var text: [UInt8] = [], rest = bytes[...]
        while !rest.isEmpty {
            text += try decoder.decode(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        try decoder.finish()
        return text
    }

    @Test(arguments: [1, 2, 7, 100, 1_000_000])
    func `content is decoded alike in pieces of any size`(size: Int) throws {
        #expect(try decoded(Self.compressed, by: size) == Self.text)
        #expect(try decoded(Self.compressed + Self.compressed + [0, 0], by: size) == Self.text + Self.text)
        // Blocks that are not compressed, with and without the format of zlib.
        let stored: [UInt8] = [0, 2, 0, 253, 255, 104, 105, 1, 1, 0, 254, 255, 33]
        #expect(try decoded(stored, by: size, "deflate") == Array("hi!".utf8))
        #expect(try decoded([120, 1] + stored + [2, 46, 0, 243], by: size, "deflate") == Array("hi!".utf8))
    }

    @Test func `any factor can be a limit`() throws {
        var decoder = try #require(ContentDecoder(["Content-Encoding": "gzip"], ratio: .max))
        #expect(try decoder.decode(Self.compressed) == Self.text)
    }

    @Test func `damaged and incomplete content is an error`() {
        for index in stride(from: 10, to: Self.compressed.count, by: 37) {
            var damaged = Self.compressed
            damaged[index] ^= 1
            #expect(throws: HTTPFailure.self) { try decoded(damaged, by: 100) }
            #expect(throws: HTTPFailure.self) { try decoded(Array(Self.compressed.prefix(index)), by: 100) }
        }
        #expect(throws: HTTPFailure.self) { try decoded(Self.compressed + [1], by: 100) }
    }
}

/// Requests as commands of curl, which is run.
///
/// With `BACKPLANE_REQUIRE_PEERS=1` a missing curl is a failure.
@Suite(.nightly, .timeLimit(.minutes(5)))
struct CurlTests {
    /// Runs a command in a shell, which reads it from a file; returns its status.
    private func run(_ command: String) throws -> Int32 {
        var process = pid_t(), status: Int32 = 0
        let files = try TestFolder(), script = files.path + "/curl.sh"
        try Data("{ \(command); } >/dev/null 2>&1\n".utf8).write(to: URL(filePath: script))
        let words = ["sh", script]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        guard posix_spawn(&process, "/bin/sh", nil, nil, &arguments, nil) == 0 else { return -1 }
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    @Test(.enabled(if: PeerServer.isThere("curl"), "curl is not installed"))
    func `curl sends what the command of a request says`() async throws {
        let received = Recording<ReceivedRequest>()
        let server = try TestServer { request, connection in
            received.add(request)
            connection.answer("200 OK", request.method == "HEAD" ? [("Connection", "close")] : [])
        }
        let files = try TestFolder(), file = files.path + "/curl'"
        try Data("from a file".utf8).write(to: URL(filePath: file))
        let url = server.url("/a/../[1-2]{2} ?q=it's%20$HOME&x=%22")
        // Longer than an argument may be, as text and as bytes.
        let long = Array(String(repeating: "it's \\n 100%\n", count: 20_000).utf8)
        let bytes = [UInt8](repeating: 255, count: 200_000)
        let form = HTTPBody.multipart([.text("title", "Moby-Dick"), .bytes("cover", [0, 255])])
        let filed = HTTPBody.multipart([.text("title", "it's"), .file("cover", file), .bytes("map", [0, 255])])
        let requests: [(HTTPRequest, body: [UInt8])] = [
            (HTTPRequest("GET", url, headers: ["X-Quote": "'a' \"b\" $HOME `id`", "X-Empty": ""]), []),
            (HTTPRequest("HEAD", url), []), (HTTPRequest("DELETE", url, headers: ["User-Agent": "shelf"]), []),
            (HTTPRequest("POST", url, body: .text("@it's\nso\n")), Array("@it's\nso\n".utf8)),
            (HTTPRequest("PUT", url, body: [0, 37, 92, 255, 10]), [0, 37, 92, 255, 10]),
            (HTTPRequest("PATCH", url, body: .file(file, type: "text/plain")), Array("from a file".utf8)),
            (HTTPRequest("POST", url, body: long), long), (HTTPRequest("POST", url, body: bytes), bytes),
            (HTTPRequest("POST", url, headers: ["Content-Length": "1"], body: form), form.bytes ?? []),
            // A quote with a combining mark is one character.
            (HTTPRequest("POST", url, body: .text("it'\u{301}s")), Array("it'\u{301}s".utf8)),
            (HTTPRequest("POST", url, body: filed), try await filed.open().collect(upTo: 1_000)),
        ]
        for (request, body) in requests {
            #expect(try run(request.expandedCurlDescription) == 0, "\(request.method)")
            let sent = try #require(received.all.last)
            #expect(sent.method == request.method && sent.target == "/a/../%5B1-2%5D%7B2%7D%20?q=it's%20$HOME&x=%22")
            #expect(sent.body == body, "\(request.method)")
            for field in request.headers.fields where field.name != "Content-Length" {
                #expect(sent[field.name] == field.value, "\(field.name)")
            }
            #expect(sent["Content-Type"] == request.body.mediaType)
            #expect(sent["Accept"] == nil && sent["Expect"] == nil)
            #expect(sent["User-Agent"] == request.headers["User-Agent"])
        }
        #expect(received.all.count == requests.count)
    }

    @Test func `a description shows no secrets`() {
        let request = HTTPRequest(
            "POST", "https://ann:secret@books.test/loans?key=secret",
            headers: ["Authorization": "Bearer secret", "Accept": "text/plain"], body: .text("secret"))
        #expect(
            request.curlDescription
                == "curl --globoff --path-as-is --request 'POST' --header 'Authorization: …' --header 'Accept: text/plain'"
                + " --header 'Content-Type: text/plain; charset=utf-8' --header 'User-Agent:' --header 'Expect:'"
                + " --data-raw '…' 'https://books.test/loans?…'")
    }
}
