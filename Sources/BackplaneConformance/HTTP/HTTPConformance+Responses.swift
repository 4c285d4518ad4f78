import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit

extension HTTPConformance {
    /// The cases about responses as the caller receives them.
    static let responses: [Case] = [
        Case("any status is a response, with its body and fields") { executor in
            for status in ["200 OK", "201 Created", "404 Not Found", "418 I'm a teapot", "500 Oops", "503 Later"] {
                let server = try TestServer { $1.answer(status, [("X-A", "1")], body: Array("said".utf8)) }
                let response = try await executor.execute(HTTPRequest("GET", server.url()))
                try expect(response.status, Int(status.prefix(3))!, "the status")
                try expect(response.headers["x-a"], "1", "the field")
                try expect(response.body, Array("said".utf8), "the body of \(status)")
            }
        },
        Case("204 and 304 have no body, whatever their fields say") { executor in
            for status in ["204 No Content", "304 Not Modified"] {
                let server = try TestServer {
                    $1.send("HTTP/1.1 \(status)\r\nETag: \"a\"\r\nContent-Length: 5\r\n\r\n")
                }
                let response = try await executor.execute(HTTPRequest("GET", server.url()))
                try expect(response.status, Int(status.prefix(3))!, "the status")
                try expect(response.headers["etag"], "\"a\"", "the field")
                try expect(response.body, [], "the body of \(status)")
            }
        },
        Case("bytes after a 204 are not its body, and never the beginning of the next response") { executor in
            let server = try TestServer { request, connection in
                if request.target == "/next" { return connection.answer("200 OK", body: [1]) }
                connection.send("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nextra")
            }
            // Refusing the response, or closing the connection afterwards, is correct, too (RFC 9112, section 6.3).
            func exchange(_ path: String) async throws -> HTTPResponse? {
                do {
                    return try await executor.execute(HTTPRequest("GET", server.url(path)))
                } catch let error as BackplaneError {
                    if error.code != .networkFailed { try expect(error.code, .networkMalformed, "the code") }
                    return nil
                }
            }
            if let response = try await exchange("/") {
                try expect(response.status, 204, "the status")
                try expect(response.body, [], "the body")
            }
            for _ in 1...3 {
                guard let response = try await exchange("/next") else { continue }
                return try expect(response.body, [1], "the next response")
            }
            throw Unmet("no request was answered after that")
        },
        Case("HEAD has a length and no body, and the limit does not count it") { executor in
            let server = try TestServer { $1.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n") }
            let response = try await executor.execute(HTTPRequest("HEAD", server.url()), upTo: 100)
            try expect(response.headers["content-length"], "1000000", "Content-Length")
            try expect(response.body, [], "the body")
        },
        Case("redirects and demands for credentials are responses") { executor in
            for status in [301, 302, 303, 307, 308, 401, 407] {
                let server = try TestServer { request, connection in
                    connection.answer(
                        "\(request.target == "/" ? status : 200) X",
                        [("Location", "/elsewhere"), ("WWW-Authenticate", "Basic realm=\"books\"")],
                        body: Array("moved".utf8))
                }
                let response = try await executor.execute(HTTPRequest("GET", server.url()))
                try expect(response.status, status, "the status")
                try expect(response.body, Array("moved".utf8), "the body of \(status)")
            }
        },
        Case("a chunked body comes whole") { executor in
            let server = try TestServer { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                for piece in ["Call ", "me ", "Ishmael."] { connection.sendChunk(Array(piece.utf8)) }
                connection.sendChunk([])
            }
            let response = try await executor.execute(HTTPRequest("GET", server.url()))
            try expect(String(decoding: response.body, as: UTF8.self), "Call me Ishmael.", "the body")
        },
        Case("unrequested trailer fields do no harm") { executor in
            let server = try TestServer { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n")
                connection.sendChunk([1])
                connection.sendChunk([], trailers: [("X-Sum", "1")])
            }
            for _ in 1...2 {
                let response = try await executor.execute(HTTPRequest("GET", server.url()))
                try expect(response.body, [1], "the body")
                try expect(response.headers["X-Sum"] == nil, "a trailer field is among the header fields")
            }
        },
        Case("a body without a length ends with its connection") { executor in
            let server = try TestServer { _, connection in
                connection.send("HTTP/1.1 200 OK\r\n\r\nCall me")
                connection.close()
            }
            let response = try await executor.execute(HTTPRequest("GET", server.url()))
            try expect(String(decoding: response.body, as: UTF8.self), "Call me", "the body")
        },
        Case("an interim response is not the response") { executor in
            let server = try TestServer { _, connection in
                connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
                connection.answer("200 OK", body: [1])
            }
            let response = try await executor.execute(HTTPRequest("GET", server.url()))
            try expect(response.status, 200, "the status")
            try expect(response.body, [1], "the body")
        },
        Case("response fields keep their order and number") { executor in
            let server = try TestServer {
                $1.answer(
                    "200 OK", [("X-B", "1"), ("X-A", "2"), ("X-B", "3"), ("Set-Cookie", "a"), ("Set-Cookie", "b")])
            }
            let response = try await executor.execute(HTTPRequest("GET", server.url()))
            try expect(
                response.headers.fields.map { "\($0.name)=\($0.value)" },
                ["X-B=1", "X-A=2", "X-B=3", "Set-Cookie=a", "Set-Cookie=b", "Content-Length=0"], "the fields")
        },
        Case("a body of just the limit is whole, and one more byte is too much") { executor in
            let server = try TestServer { $1.answer("200 OK", body: .pattern(count: 100_000)) }
            let response = try await executor.execute(HTTPRequest("GET", server.url()), upTo: 100_000)
            try expect(response.body.count, 100_000, "the size")
            let error = try await failure("a body over the limit") {
                try await executor.execute(HTTPRequest("GET", server.url()), upTo: 99_999)
            }
            try expect(error.code, .networkTooLarge, "the code")
        },
        Case("a response that drips in is whole") { executor in
            let server = try TestServer { _, connection in
                connection.drip(Array("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nCall me".utf8))
            }
            let response = try await executor.execute(HTTPRequest("GET", server.url()))
            try expect(String(decoding: response.body, as: UTF8.self), "Call me", "the body")
        },
        Case("fifty exchanges are carried out at once, each with its own response") { executor in
            let latch = Latch(), arrived = Counted()
            defer { latch.open() }
            let server = try TestServer { request, connection in
                arrived.add(1)
                latch.pass()
                connection.answer("200 OK", body: Array(request.target.utf8))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...50 {
                    group.addTask {
                        let response = try await executor.execute(HTTPRequest("GET", server.url("/\(number)")))
                        try expect(String(decoding: response.body, as: UTF8.self), "/\(number)", "the response")
                    }
                }
                try await eventually("fewer than 50 arrived before one was answered") { arrived.value == 50 }
                latch.open()
                try await group.waitForAll()
            }
        },
        Case("a connection is used again") { executor in
            let server = try TestServer { $1.answer("200 OK", body: [UInt8($1.number)]) }
            for _ in 1...3 {
                let response = try await executor.execute(HTTPRequest("GET", server.url()))
                try expect(response.body, [0], "the number of the connection")
            }
        },
    ]

    /// The cases about bodies that are read while they arrive.
    static let streams: [Case] = [
        Case("the head is there before the body is complete, and chunks arrive as they are sent") { executor in
            let latches = [Latch(), Latch()]
            defer { for latch in latches { latch.open() } }
            let server = try TestServer { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none")
                latches[0].pass()
                connection.send("two")
            }
            let response = try await executor.open(HTTPRequest("GET", server.url()), HTTPOptions())
            try expect(response.status, 200, "the status")
            var body = response.body.makeAsyncIterator(), text = ""
            while text.count < 3, let chunk = try await body.next() { text += String(decoding: chunk, as: UTF8.self) }
            try expect(text, "one", "the first chunk, before the second was sent")
            latches[0].open()
            while let chunk = try await body.next() { text += String(decoding: chunk, as: UTF8.self) }
            try expect(text, "onetwo", "the body")
        },
        Case("an unread body is not received") { executor in
            let sent = Counted(), total = moreThanBuffersHold >> 18
            let server = try TestServer { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total << 18)\r\n\r\n")
                let chunk = [UInt8](repeating: 0, count: 256 << 10)
                for _ in 0..<total where !connection.wasLeft {
                    connection.send(chunk)
                    sent.add(1)
                }
            }
            let response = try await executor.open(HTTPRequest("GET", server.url()), HTTPOptions())
            var body = response.body.makeAsyncIterator()
            var count = try await body.next()?.count ?? 0
            try await sent.settle()
            try expect(sent.value < total / 2, "\(sent.value) of \(total) chunks were sent although none is read")
            while let chunk = try await body.next() { count += chunk.count }
            try expect(count, total << 18, "the bytes of the body once it was read")
        },
        Case("releasing a response ends the exchange, and its connection") { executor in
            let server = try TestServer { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                connection.stall()
            }
            do { _ = try await executor.open(HTTPRequest("GET", server.url()), HTTPOptions()) }
            _ = await server.departures.first { _ in true }
        },
    ]
}

extension HTTPConformance {
    /// The cases about compressed content.
    static let compression: [Case] = [
        Case("content that is compressed without a request for it agrees with its fields") { executor in
            let server = try TestServer { $1.answer("200 OK", [("Content-Encoding", "gzip")], body: hello) }
            let response = try await executor.execute(HTTPRequest("GET", server.url()))
            if response.headers["Content-Encoding"] == "gzip" {
                try expect(response.body, hello, "the body")
            } else {
                try expect(response.body, Array("hello".utf8), "the body")
                try expect(response.headers["Content-Length"] == nil, "Content-Length is that of the compressed body")
            }
        },
        Case("a response without content keeps its fields") { executor in
            for (method, status) in bodiless {
                let server = try TestServer {
                    $1.send("HTTP/1.1 \(status)\r\nContent-Encoding: gzip\r\nETag: \"a\" \r\n\r\n")
                }
                let response = try await executor.execute(HTTPRequest(method, server.url()))
                try expect(response.headers["Content-Encoding"], "gzip", "Content-Encoding of \(method), \(status)")
                try expect(response.headers["ETag"], "\"a\"", "ETag")
            }
        },
        Case("a response without content is not decoded", needs: .decompression) { executor in
            for (method, status) in bodiless + [("GET", "200 OK")] {
                let server = try TestServer {
                    $1.send("HTTP/1.1 \(status)\r\nContent-Encoding: gzip\r\n")
                    $1.send(status == "200 OK" && method == "GET" ? "Content-Length: 0\r\n\r\n" : "\r\n")
                }
                let response = try await executor.execute(HTTPRequest(method, server.url()), upTo: 100, decoding)
                try expect(response.body, [], "the body of \(method), \(status)")
            }
        },
        Case("all members of gzip are decoded, each as it comes", needs: .decompression) { executor in
            let server = try TestServer { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
                for byte in hello { connection.sendChunk([byte]) }
                connection.sendChunk(hello + hello)
                connection.sendChunk([])
            }
            let response = try await executor.open(HTTPRequest("GET", server.url()), decoding)
            try expect(response.headers["Content-Encoding"] == nil, "Content-Encoding was kept")
            var text = ""
            for try await piece in response.body { text += String(decoding: piece, as: UTF8.self) }
            try expect(text, "hellohellohello", "the body")
        },
        Case("all content codings are removed in reverse order, or none", needs: .decompression) { executor in
            let whole = Array("hello".utf8)
            for (codings, content, expected) in [
                (["gzip, identity"], hello, whole), (["gzip, gzip"], twice, whole),
                (["deflate", "gzip"], zlibInGzip, whole),
                (["GZIP"], hello, whole), (["br, gzip"], hello, hello), (["gzip, br"], hello, hello),
            ] {
                let fields = codings.map { ("Content-Encoding", $0) }
                let server = try TestServer { $1.answer("200 OK", fields, body: content) }
                let response = try await executor.execute(HTTPRequest("GET", server.url()), upTo: 100, decoding)
                try expect(response.body, expected, "the body of \(codings)")
                let isDecoded = expected == whole
                try expect(response.headers.values("Content-Encoding"), isDecoded ? [] : codings, "Content-Encoding")
                try expect(
                    response.headers["Content-Length"], isDecoded ? nil : "\(content.count)", "Content-Length")
            }
        },
        Case("compressed content is requested and decoded", needs: .decompression) { executor in
            let server = try TestServer { $1.answer("200 OK", [("Content-Encoding", "gzip")], body: hello) }
            let response = try await executor.execute(HTTPRequest("GET", server.url()), upTo: 100, decoding)
            try expect(response.body, Array("hello".utf8), "the body")
            try expect(response.headers["Content-Encoding"] == nil, "Content-Encoding was kept")
            try expect(response.headers["Content-Length"] == nil, "Content-Length was kept")
            let received = await server.requests.first { _ in true }
            try expect(received?["Accept-Encoding"]?.contains("gzip") == true, "gzip was not asked for")
        },
        Case("deflate is decoded where it is requested", needs: .decompression) { executor in
            for (format, content) in [("zlib", zlib), ("none", deflated)] {
                let server = try TestServer { request, connection in
                    let isWanted = request["Accept-Encoding"]?.contains("deflate") == true
                    connection.answer(
                        "200 OK", isWanted ? [("Content-Encoding", "deflate")] : [],
                        body: isWanted ? content : Array("hello".utf8))
                }
                do {
                    let response = try await executor.execute(HTTPRequest("GET", server.url()), upTo: 100, decoding)
                    try expect(response.body, Array("hello".utf8), "the body, in the format \(format)")
                    try expect(response.headers["Content-Encoding"] == nil, "Content-Encoding was kept")
                } catch let error as BackplaneError {
                    // Some servers send the data without the format that RFC 9110, section 8.4.1.2, prescribes.
                    guard format == "none" else { throw error }
                    try expect(error.code, .networkMalformed, "the code for content without its format")
                }
            }
        },
        Case("content that is not compressed is left alone", needs: .decompression) { executor in
            let server = try TestServer { $1.answer("200 OK", body: Array("hello".utf8)) }
            let response = try await executor.execute(HTTPRequest("GET", server.url()), upTo: 100, decoding)
            try expect(response.body, Array("hello".utf8), "the body")
            try expect(response.headers["Content-Length"], "5", "Content-Length")
        },
        Case("a range is requested as it is stored, and not decoded", needs: .decompression) { executor in
            let server = try TestServer { request, connection in
                let identity = request["Accept-Encoding"] == "identity"
                connection.answer(identity ? "206 Partial Content" : "400 Bad Request", body: [2, 3])
            }
            let response = try await executor.execute(
                HTTPRequest("GET", server.url(), headers: ["Range": "bytes=1-2"]), upTo: 100, decoding)
            try expect(response.status, 206, "the status")
        },
        Case("with a request's own Accept-Encoding, the content is not decoded", needs: .decompression) { executor in
            let server = try TestServer { $1.answer("200 OK", [("Content-Encoding", "gzip")], body: hello) }
            let response = try await executor.execute(
                HTTPRequest("GET", server.url(), headers: ["Accept-Encoding": "gzip"]), upTo: 100, decoding)
            try expect(response.body, hello, "the body")
            try expect(response.headers["Content-Encoding"], "gzip", "Content-Encoding")
        },
        Case("damaged content is an error", needs: .decompression) { executor in
            for damaged in [Array(hello.prefix(15)), [31, 139] + [UInt8](repeating: 9, count: 40)] {
                let server = try TestServer { $1.answer("200 OK", [("Content-Encoding", "gzip")], body: damaged) }
                let error = try await failure("damaged content") {
                    try await executor.execute(HTTPRequest("GET", server.url()), upTo: 100, decoding)
                }
                if error.code != .networkFailed { try expect(error.code, .networkMalformed, "the code") }
            }
        },
        Case("content that grows out of proportion is an error", needs: .decompression) { executor in
            let server = try TestServer { $1.answer("200 OK", [("Content-Encoding", "gzip")], body: bomb) }
            let error = try await failure("a zip bomb") {
                try await executor.execute(HTTPRequest("GET", server.url()), upTo: 64 << 20, decoding)
            }
            try expect(error.code, .networkTooLarge, "the code")
        },
    ]

    private static var decoding: HTTPOptions {
        var options = HTTPOptions()
        options.decompresses = true
        return options
    }

    /// The text `hello`, compressed.
    private static let hello: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
    ]

    /// Responses without content, by the method of the request.
    private static let bodiless = [("HEAD", "200 OK"), ("GET", "204 No Content"), ("GET", "304 Not Modified")]

    /// The text `hello`, compressed twice with gzip.
    private static let twice: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 147, 239, 230, 96, 0, 1, 38, 230, 211, 30, 103, 79, 158, 100, 103, 104, 91, 38,
        96, 198, 10, 20, 0, 0, 167, 111, 180, 69, 25, 0, 0, 0,
    ]

    /// The text `hello`, compressed for `deflate`, and then with gzip.
    private static let zlibInGzip: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 152, 115, 218, 227, 236, 201, 147, 236, 12, 108, 58, 76, 162, 0, 68, 254,
        133, 170, 13, 0, 0, 0,
    ]

    /// The text `hello`, compressed for `deflate`: in the format of zlib (RFC 1950), and without it (RFC 1951).
    private static let zlib: [UInt8] = [120, 218, 203, 72, 205, 201, 201, 7, 0, 6, 44, 2, 21]
    private static let deflated: [UInt8] = [203, 72, 205, 201, 201, 7, 0]

    /// Four megabytes of zeros, compressed: 4098 bytes, almost all of them zero.
    private static let bomb: [UInt8] =
        [
            0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0x02, 0x03, 0xED, 0xC1, 0x01, 0x01, 0, 0, 0, 0x82, 0x20, 0xFF, 0xAF, 0x6E,
            0x48, 0x40, 0x01,
        ] + [UInt8](repeating: 0, count: 4098 - 25 - 10) + [0x7C, 0x1B, 0x6A, 0x40, 0x47, 0x11, 0, 0, 0x40, 0]
}

extension HTTPConformance {
    /// The cases about requests that are refused before anything is sent.
    static let refusals: [Case] = [
        Case("a request that needs an undeclared capability is refused, and nothing is sent") { executor in
            let server = try TestServer { $1.answer("204 No Content") }
            var decoding = HTTPOptions()
            decoding.decompresses = true
            let asked: [(HTTPCapabilities, HTTPRequest, HTTPOptions)] = [
                (.streamedUploads, HTTPRequest("POST", server.url(), body: .stream(chunks(["a"]))), HTTPOptions()),
                (.decompression, HTTPRequest("GET", server.url()), decoding),
                (.contentInGET, HTTPRequest("GET", server.url(), body: [1]), HTTPOptions()),
            ]
            for (capability, request, options) in asked where !executor.capabilities.contains(capability) {
                let error = try await failure("\(capability)") { try await executor.open(request, options) }
                try expect(error.code, .networkUnsupported, "the code for \(capability)")
                try expect(error.message.contains("\(capability)"), "the message does not say \(capability)")
            }
            try await expectSilence(server, executor)
        },
        Case("an invalid request is refused, without printing a secret") { executor in
            let requests = [
                HTTPRequest("GE T", "http://127.0.0.1/?secret=1"), HTTPRequest("", "http://127.0.0.1/?secret=1"),
                HTTPRequest("GET\r\nX: y", "http://127.0.0.1/?secret=1"),
                HTTPRequest("GET", "http://127.0.0.1/", headers: ["X-A": "secret\r\nX-B: b"]),
                HTTPRequest("GET", "http://127.0.0.1/", headers: ["X-A": "secret\0"]),
                HTTPRequest("GET", "http://127.0.0.1/", headers: ["X A": "secret"]),
                HTTPRequest("POST", "http://127.0.0.1/", body: .bytes([1], type: "a\r\nX-B: secret")),
                HTTPRequest("GET", "http:///books?secret"), HTTPRequest("GET", "http://127.0.0.1:secret/"),
                HTTPRequest("GET", "books?secret"), HTTPRequest("GET", ""),
            ]
            for request in requests {
                let error = try await failure("\(request.method) \(request.url)") {
                    try await executor.open(request, HTTPOptions())
                }
                try expect(error.code, .networkRefused, "the code")
                try expect(!error.detailedDescription.contains("secret"), "the error contains a value")
            }
        },
    ]

    /// The cases about servers that misbehave.
    static let failures: [Case] = [
        Case("a server that is down accepts no connection") { executor in
            let held = try LoopbackSocket(backlog: nil)
            try await expectFailure(executor, "http://127.0.0.1:\(held.port)/books", "a closed port")
        },
        Case("a response that breaks off is an error") { executor in
            for sent in [
                "", "HTTP/1.1", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
            ] {
                try await expectFailure(executor, sending: sent)
            }
        },
        Case("a response that breaks off within its head is an error") { executor in
            try await expectFailure(executor, sending: "HTTP/1.1 200 OK\r\nContent-Le")
        },
        Case("a connection that is reset in the body is an error") { executor in
            let server = try TestServer { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                connection.reset()
            }
            try await expectFailure(executor, server.url("/books"), "a reset")
        },
        Case("a response that is not HTTP is an error") { executor in
            for sent in [
                "nonsense\r\n\r\n", "\u{1}\u{2}\u{3}\u{4}\r\n\r\n", "HTTP/1.1 two hundred\r\n\r\n",
                "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: nonsense\r\n\r\n",
            ] {
                try await expectFailure(executor, sending: sent)
            }
        },
        Case("a server without TLS accepts no secure connection") { executor in
            let server = try TestServer(greeting: "HTTP/1.1 400 Bad Request\r\n\r\n") { $1.close() }
            try await expectFailure(
                executor, "https://127.0.0.1:\(server.port)/books", "a server without TLS",
                [.networkInsecure, .networkFailed])
        },
        Case("a body over the limit is not read on") { executor in
            for head in [
                "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
            ] {
                let server = try TestServer { _, connection in
                    connection.send(head)
                    for _ in 1...200 { connection.send([UInt8](repeating: 120, count: 1024)) }
                    connection.stall()
                }
                let error = try await failure("a body over the limit") {
                    try await executor.execute(HTTPRequest("GET", server.url()), upTo: 100_000)
                }
                try expect(error.code, .networkTooLarge, "the code")
                _ = await server.departures.first { _ in true }
            }
        },
    ]

    /// The cases about cancelled tasks.
    static let cancellation: [Case] = [
        Case("cancelling ends the exchange at once, and its connection") { executor in
            // Once while there is no head, and once while the rest of the body is awaited.
            for sent in ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"] {
                let (moments, moment) = AsyncStream.makeStream(of: Void.self)
                let server = try TestServer { _, connection in
                    connection.send(sent)
                    if sent.isEmpty { moment.yield() }
                    connection.stall()
                }
                let task = Task {
                    let response = try await executor.open(HTTPRequest("GET", server.url()), HTTPOptions())
                    var count = 0
                    while let chunk = try await response.body.next() {
                        count += chunk.count
                        if count == 4 { moment.yield() }
                    }
                    return HTTPResponse(status: response.status)
                }
                _ = await moments.first { _ in true }
                task.cancel()
                try await expectCancelled(task)
                _ = await server.departures.first { _ in true }
            }
        },
        Case("a cancelled task sends nothing") { executor in
            let server = try TestServer { $1.answer("204 No Content") }
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await executor.execute(HTTPRequest("GET", server.url("/cancelled")))
            }
            try await expectCancelled(task)
            try await expectSilence(server, executor)
        },
    ]

    private static func expectCancelled(_ task: Task<HTTPResponse, any Error>) async throws {
        do {
            _ = try await task.value
        } catch is CancellationError {
            return
        } catch {
            throw Unmet("a cancelled exchange: expected CancellationError, found \(error)")
        }
        throw Unmet("a cancelled exchange: expected CancellationError, found a response")
    }

    /// Requires an error when a server sends the given text and closes the connection.
    private static func expectFailure(_ executor: any HTTPExecutor, sending text: String) async throws {
        let server = try TestServer { _, connection in
            connection.send(text)
            connection.close()
        }
        try await expectFailure(executor, server.url("/books"), "\(text.debugDescription)")
    }

    /// Requires a one-line error, located at the URL without its secrets.
    private static func expectFailure(
        _ executor: any HTTPExecutor, _ url: String, _ what: String,
        _ codes: [BackplaneError.Code] = [.networkFailed, .networkMalformed]
    ) async throws {
        let secretive = url.replacing("://", with: "://ann:secret@", maxReplacements: 1) + "?key=secret"
        let error = try await failure(what) { try await executor.execute(HTTPRequest("GET", secretive)) }
        if !codes.contains(error.code) { try expect(error.code, codes[0], "the code for \(what)") }
        try expect(error.location, url, "the location for \(what)")
        try expect(!error.detailedDescription.contains("secret"), "the error for \(what) contains a secret")
        try expect(!error.message.contains("\n"), "the error for \(what) has more than a line")
    }
}
