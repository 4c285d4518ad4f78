import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Testing

/// A response whose framing is a case of RFC 9110 or 9112.
///
/// A table of docs/http.md says what each executor makes of it.
struct FramedResponse: Sendable {
    let name: String
    /// The document and the section that define the case.
    let section: String
    let method: String
    let bytes: [UInt8]
    /// A Boolean value that indicates whether an executor that can decode is asked to.
    let isDecoded: Bool

    init(_ name: String, _ section: String, _ bytes: [UInt8], method: String = "GET", isDecoded: Bool = false) {
        (self.name, self.section, self.bytes) = (name, section, bytes)
        (self.method, self.isDecoded) = (method, isDecoded)
    }

    init(_ name: String, _ section: String, _ text: String, method: String = "GET") {
        self.init(name, section, Array(text.utf8), method: method)
    }

    /// What the page says of a case that ends the process.
    static let death = "**ends the process**"

    /// What the page says of each case, for AsyncHTTPClient and for URLSession.
    static func page() throws -> [String: (asyncHTTPClient: String, urlSession: String)] {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/http.md")
        var rows: [String: (asyncHTTPClient: String, urlSession: String)] = [:]
        for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4, let response = all.first(where: { $0.name == cells[0] }) else { continue }
            #expect(cells[1] == response.section, "\(response.name)")
            rows[cells[0]] = (cells[2], cells[3])
        }
        #expect(all.map(\.name).filter { rows[$0] == nil } == [], "the page lacks these cases")
        return rows
    }

    /// Returns what an executor makes of the response, as the page says it; the connection is closed after it.
    func outcome(_ executor: any HTTPExecutor) async throws -> String {
        let server = try TestServer { [bytes] _, connection in
            connection.send(bytes)
            connection.close()
        }
        var options = HTTPOptions()
        options.decompresses = isDecoded && executor.capabilities.contains(.decompression)
        do {
            let response = try await executor.execute(HTTPRequest(method, server.url()), options)
            if response.body == Self.gzip { return "the compressed body" }
            return response.body.isEmpty ? "no body" : "`\(String(decoding: response.body, as: UTF8.self))`"
        } catch let error as BackplaneError {
            return "`\(error.code.rawValue)`"
        }
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// Returns a response with content in a coding.
    private static func coded(_ coding: String, _ body: [UInt8]) -> [UInt8] {
        Array("\(ok)Content-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
    }

    /// The text `body`, compressed in the format of gzip, in that of zlib (RFC 1950), and with neither (RFC 1951).
    private static let gzip: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 202, 79, 169, 4, 0, 178, 11, 168, 219, 4, 0, 0, 0,
    ]
    private static let zlib: [UInt8] = [120, 218, 75, 202, 79, 169, 4, 0, 4, 26, 1, 175]
    private static let deflated: [UInt8] = [75, 202, 79, 169, 4, 0]

    private static let long = String(repeating: "a", count: 200_000)

    static let all: [FramedResponse] = [
        // The length of a body (RFC 9112, section 6.3).
        .init("a length", "9112, 6.3", "\(ok)Content-Length: 4\r\n\r\nbody"),
        .init(
            "two different lengths", "9112, 6.3", "\(ok)Content-Length: 4\r\nContent-Length: 5\r\n\r\nbody"),
        .init(
            "the same length twice", "9112, 6.3", "\(ok)Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody"),
        .init("a list of lengths", "9110, 8.6", "\(ok)Content-Length: 4, 4\r\n\r\nbody"),
        .init("a negative length", "9110, 8.6", "\(ok)Content-Length: -4\r\n\r\nbody"),
        .init("a length that is no number", "9110, 8.6", "\(ok)Content-Length: 4x\r\n\r\nbody"),
        .init(
            "a length of more than 64 bits", "9110, 8.6", "\(ok)Content-Length: 99999999999999999999999\r\n\r\nbody"),
        .init(
            "a length beside chunks", "9112, 6.3",
            "\(ok)Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"),
        .init(
            "a body shorter than its length", "9112, 8", "\(ok)Content-Length: 10\r\n\r\nhalf"),
        .init(
            "bytes after a body", "9112, 6.3", "\(ok)Content-Length: 4\r\n\r\nbodyHTTP/1.1 500 No\r\n\r\n"),
        .init("no length, to the end of the connection", "9112, 6.3", "\(ok)\r\nbody"),
        // Chunks (section 7.1).
        .init(
            "a chunk with an extension", "9112, 7.1.1", "\(chunked)4;a=\"b\"\r\nbody\r\n0\r\n\r\n"),
        .init("a chunk without a size", "9112, 7.1", "\(chunked)x\r\nbody\r\n0\r\n\r\n"),
        .init(
            "a chunk of more than 64 bits", "9112, 7.1", "\(chunked)fffffffffffffffff\r\nbody\r\n0\r\n\r\n"),
        .init("a chunk longer than its size", "9112, 7.1", "\(chunked)2\r\nbody\r\n0\r\n\r\n"),
        .init("chunks without an end", "9112, 8", "\(chunked)4\r\nbody\r\n"),
        .init(
            "chunks with trailers", "9112, 7.1.2", "\(chunked)4\r\nbody\r\n0\r\nX-Sum: 1\r\n\r\n"),
        .init(
            "a transfer coding that is not chunked", "9112, 6.3", "\(ok)Transfer-Encoding: foo\r\n\r\nbody"),
        // Content codings (RFC 9110, section 8.4).
        .init("gzip that was requested", "9110, 8.4.1.3", coded("gzip", gzip), isDecoded: true),
        .init("gzip that was not requested", "9110, 8.4.1.3", coded("gzip", gzip)),
        .init("gzip called `x-gzip`", "9110, 8.4.1.3", coded("x-gzip", gzip), isDecoded: true),
        .init("gzip that breaks off", "9110, 8.4.1.3", coded("gzip", Array(gzip.prefix(12))), isDecoded: true),
        .init("deflate", "9110, 8.4.1.2", coded("deflate", zlib), isDecoded: true),
        .init("deflate without the format of zlib", "9110, 8.4.1.2", coded("deflate", deflated), isDecoded: true),
        // Bodies that there are not (RFC 9110).
        .init("`204` with a body", "9110, 15.3.5", "HTTP/1.1 204 No\r\nContent-Length: 4\r\n\r\nbody"),
        .init("`304` with a body", "9110, 15.4.5", "HTTP/1.1 304 No\r\nContent-Length: 4\r\n\r\nbody"),
        .init("`HEAD` with a length", "9110, 9.3.2", "\(ok)Content-Length: 4\r\n\r\n", method: "HEAD"),
        .init("`HEAD` with a body", "9110, 9.3.2", "\(ok)Content-Length: 4\r\n\r\nbody", method: "HEAD"),
        // Interim responses (section 15.2).
        .init(
            "`100` and `103` first", "9110, 15.2",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n\(ok)Content-Length: 4\r\n\r\nbody"),
        .init(
            "`101` that was not requested", "9110, 15.2.2",
            "HTTP/1.1 101 Switching\r\nUpgrade: foo\r\nConnection: upgrade\r\n\r\n\(ok)Content-Length: 4\r\n\r\nbody"),
        .init("interim responses alone", "9110, 15.2", "HTTP/1.1 103 Hints\r\n\r\n"),
        // Status lines (RFC 9112, section 4).
        .init("no reason", "9112, 4", "HTTP/1.1 200 \r\nContent-Length: 4\r\n\r\nbody"),
        .init(
            "no space before a missing reason", "9112, 4", "HTTP/1.1 200\r\nContent-Length: 4\r\n\r\nbody"),
        .init("a status of four digits", "9112, 4", "HTTP/1.1 2000 OK\r\nContent-Length: 4\r\n\r\nbody"),
        .init("a status of two digits", "9112, 4", "HTTP/1.1 20 OK\r\nContent-Length: 4\r\n\r\nbody"),
        .init("HTTP/1.0", "9112, 2.3", "HTTP/1.0 200 OK\r\n\r\nbody"),
        .init("another major version", "9112, 2.3", "HTTP/3.7 200 OK\r\nContent-Length: 4\r\n\r\nbody"),
        .init("HTTP/0.9", "9112, 2.3", "<p>body</p>"),
        .init("nothing", "9112, 2.1", ""),
        // Fields (section 5).
        .init(
            "lines that end with LF alone", "9112, 2.2", "HTTP/1.1 200 OK\nContent-Length: 4\n\nbody"),
        .init(
            "an empty line first", "9112, 2.2", "\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"),
        .init(
            "a field over several lines", "9112, 5.2", "\(ok)X-A: b\r\n c\r\nContent-Length: 4\r\n\r\nbody"),
        .init(
            "a space before the colon", "9112, 5.1", "\(ok)Content-Length : 4\r\n\r\nbody"),
        .init("a field without a colon", "9112, 5", "\(ok)X-A\r\nContent-Length: 4\r\n\r\nbody"),
        .init("a field without a name", "9112, 5", "\(ok): b\r\nContent-Length: 4\r\n\r\nbody"),
        .init("a null byte in a field", "9110, 5.5", "\(ok)X-A: b\0c\r\nContent-Length: 4\r\n\r\nbody"),
        .init(
            "a field that is not UTF-8", "9110, 5.5",
            Array("\(ok)X-A: b".utf8) + [0xE9] + Array("c\r\nContent-Length: 4\r\n\r\nbody".utf8)),
        .init(
            "a field of 200 KB", "9110, 5.4",
            "\(ok)X-A: \(long)\r\nContent-Length: 4\r\n\r\nbody"),
        .init("a head that breaks off", "9112, 8", "\(ok)Content-Le"),
        .init("a head without its empty line", "9112, 8", "\(ok)Content-Length: 4\r\n"),
    ]
}
