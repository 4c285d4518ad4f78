import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit

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
