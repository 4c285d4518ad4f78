import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit

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
