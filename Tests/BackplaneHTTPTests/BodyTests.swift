import Backplane
import BackplaneDocuments
import BackplaneHTTP
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

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
