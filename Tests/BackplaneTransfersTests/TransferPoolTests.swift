import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import BackplaneTransfers
import Foundation
import Synchronization
import Testing

/// The pool: ids, states, limits, and what is there after a restart.
@Suite(.timeLimit(.minutes(20)))
struct TransferPoolTests {
    private let fixture: TransferFixture
    private let content = TransferFixture.content(500_000)

    init() throws { fixture = try TransferFixture() }

    /// A server that stops in the middle of its first answer.
    private func stallingServer() throws -> FileServer {
        try FileServer(content) { reply, number in if number == 1 { reply.stall = 300_000 } }
    }

    private func expectCode(
        _ code: BackplaneError.Code, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: BackplaneError.self, sourceLocation: sourceLocation) { try await body() }
        #expect(error?.code == code, sourceLocation: sourceLocation)
    }

    @Test func `one id that many begin at the same time is one transfer`() async throws {
        let server = try FileServer(content), pool = try await fixture.pool()
        for round in 0..<10 {
            let transfer = fixture.download(server.url(), "\(round)", to: "\(round)")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { try await pool.begin(transfer) } }
                try await group.waitForAll()
            }
            #expect(try await pool.end(of: "\(round)").phase == .succeeded)
            #expect(try fixture.bytes("\(round)") == content)
        }
        #expect(server.counts.requests == 10)
        await pool.stop()
    }

    @Test func `one id is one transfer, and one file that of one`() async throws {
        let server = try stallingServer(), pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url()))
        try await pool.state { $0.bytes > 0 }
        await expectCode(.transferTaken) { try await pool.begin(fixture.download(server.url("/other"))) }
        await expectCode(.transferTaken) { try await pool.begin(fixture.download(server.url(), to: "other")) }
        await expectCode(.transferTaken) { try await pool.begin(fixture.download(server.url(), "other")) }
        #expect(try await pool.begin(fixture.download(server.url())).phase == .running, "the same is the same transfer")
        // Another pool, or another name of the folder, finds the part locked.
        let other = try await fixture.pool()
        try await other.begin(
            fixture.download(server.url(), to: "../\(URL(filePath: fixture.folder).lastPathComponent)/whale.epub"))
        #expect(try await other.end().error?.code == .transferTaken)
        try await pool.pause("whale")
        await expectCode(.transferTaken) { try await pool.begin(fixture.download(server.url(), "other")) }
        try await pool.cancel("whale")
        try await pool.begin(fixture.download(server.url(), "other"))
        #expect(try await pool.end(of: "other").phase == .succeeded)
        #expect(try fixture.bytes() == content)
    }

    @Test func `what a pool cannot keep is refused before anything is sent`() async throws {
        let server = try FileServer(content), pool = try await fixture.pool()
        let post = HTTPRequest("POST", server.url())
        await expectCode(.transferRefused) { try await pool.begin(Transfer("a", download: post, to: fixture.path())) }
        var ranged = HTTPRequest("GET", server.url())
        ranged.headers["Range"] = "bytes=1-"
        await expectCode(.transferRefused) {
            try await pool.begin(Transfer("a", download: ranged, to: fixture.path()))
        }
        let secret = server.url().replacing("http://", with: "http://ann:white@")
        await expectCode(.transferRefused) { try await pool.begin(fixture.download(secret)) }
        let stream = HTTPRequest("PUT", server.url(), body: .stream(AsyncStream<[UInt8]> { $0.finish() }))
        await expectCode(.transferRefused) { try await pool.begin(Transfer("a", upload: stream)) }
        let large = HTTPRequest("PUT", server.url(), body: [UInt8](repeating: 0, count: TransferPool.bodyLimit + 1))
        await expectCode(.transferRefused) { try await pool.begin(Transfer("a", upload: large)) }
        await expectCode(.networkFile) {
            try await pool.begin(Transfer("a", download: server.url(), to: "a/.."))
        }
        #expect(server.counts.requests == 0)
        #expect(try await pool.transfers().states.isEmpty)
    }

    @Test func `a transfer of an endpoint has the base URL, the fields and the interceptors of its client`()
        async throws
    {
        var http = HTTPClient(TransferFixture.network).relative(to: "http://books.test/v2")
        http.defaults.headers = ["X-Client": "ahab"]
        http.defaults.interceptors = [
            HTTPInterceptor { request, next in
                var signed = request
                signed.headers["X-Signature"] = "white"
                return try await next(signed)
            }
        ]
        var endpoint = Endpoint<DownloadedFile>("GET", "files/42", to: "42.epub")
        endpoint.options.credential = "library"
        let transfer = try await Transfer("42", download: endpoint, on: http)
        #expect(transfer.request.url == "http://books.test/v2/files/42" && transfer.target == "42.epub")
        #expect(transfer.request.headers == ["X-Client": "ahab", "X-Signature": "white"])
        #expect(transfer.credential == "library")
        (endpoint.options.credential, http.defaults.credential, http.defaults.account) = (nil, "shelf", "ann")
        let other = try await Transfer("42", download: endpoint, on: http)
        #expect(other.credential == "shelf" && other.account == "ann", "those of the client")
        http.defaults.interceptors.append(HTTPInterceptor { _, _ in HTTPStreamedResponse(HTTPResponse(status: 200)) })
        await expectCode(.transferRefused) { [http] in
            _ = try await Transfer("42", upload: Endpoint<Nothing>("PUT", "files/42"), on: http)
        }
    }

    @Test func `a download that was paused goes on where it was, byte for byte`() async throws {
        let server = try stallingServer(), pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url()))
        try await pool.state { $0.bytes == 300_000 }
        try await pool.pause("whale")
        let paused = try await pool.state(of: "whale")
        #expect(paused.phase == .paused && paused.bytes == 300_000 && paused.total == 500_000)
        #expect(paused.progress == 0.6 && paused.rate == nil && paused.timeLeft == nil)
        #expect(server.counts.requests == 1)
        try await pool.resume("whale")
        #expect(try await pool.end().phase == .succeeded)
        #expect(try fixture.bytes() == content)
        #expect(server.counts.ranges == ["", "bytes=300000-"] && server.counts.sent == content.count)
    }

    @Test func `cancelling removes the part, and the id can be begun again`() async throws {
        let server = try stallingServer(), pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url()))
        try await pool.state { $0.bytes > 0 }
        try await pool.cancel("whale")
        #expect(try await pool.state(of: "whale").phase == .cancelled)
        #expect(fixture.names == [])
        try await pool.resume("whale")
        #expect(try await pool.state(of: "whale").phase == .cancelled, "there is nothing to go on with")
        try await pool.begin(fixture.download(server.url()))
        #expect(try await pool.end().phase == .succeeded)
        #expect(server.counts.ranges == ["", ""])
    }

    @Test func `whatever is asked of a transfer in whatever phase, it ends in one of them`() async throws {
        let small = TransferFixture.content(20_000)
        for seed in 0..<60 {
            let server = try FileServer(small) { reply, number in
                if number % 3 == 0 { (reply.cut, reply.isCutAtOnce) = (10_000, true) }
            }
            let pool = try await fixture.pool()
            try await pool.begin(fixture.download(server.url()))
            await withTaskGroup(of: Void.self) { group in
                for step in 0..<6 {
                    group.addTask {
                        switch (seed &* 7 &+ step &* 5) % 4 {
                        case 0: try? await pool.pause("whale")
                        case 1: try? await pool.resume("whale")
                        case 2 where seed % 5 == 0: try? await pool.cancel("whale")
                        default: _ = try? await pool.state(of: "whale")
                        }
                    }
                }
            }
            try? await pool.resume("whale")
            let state = try await pool.end()
            #expect(state.phase == .succeeded || state.phase == .cancelled && seed % 5 == 0, "\(seed): \(state)")
            if state.phase == .succeeded { #expect(try fixture.bytes() == small) }
            #expect(fixture.names.count <= 1)
            await pool.stop()
            try? FileManager.default.removeItem(atPath: fixture.path())
        }
    }

    @Test func `whoever comes late is told the present state first, and everyone the last one`() async throws {
        let server = try stallingServer(), pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url()))
        try await pool.state { $0.bytes == 300_000 }
        var late = pool.states(of: "whale").makeAsyncIterator()
        #expect(try await late.next()?.bytes == 300_000)
        let early = Task { try await pool.end() }
        try await pool.pause("whale")
        #expect(try await late.next()?.phase == .paused)
        try await pool.resume("whale")
        #expect(try await early.value.phase == .succeeded)
        var last: TransferState?
        while let state = try await late.next() { last = state }
        #expect(last?.phase == .succeeded)
        var finished = pool.states(of: "whale").makeAsyncIterator()
        #expect(try await finished.next()?.phase == .succeeded)
        #expect(try await finished.next() == nil)
    }

    @Test func `an id is waited for before its transfer begins, as long as the task wants`() async throws {
        let server = try FileServer(content), pool = try await fixture.pool()
        let early = Task.immediate { try await pool.end() }
        let cancelled = Task.immediate { try await pool.end(of: "never") }
        cancelled.cancel()
        let error = await #expect(throws: BackplaneError.self) { try await cancelled.value }
        #expect(error?.code == .callCancelled)
        try await pool.begin(fixture.download(server.url()))
        #expect(try await early.value.phase == .succeeded)
        try await pool.remove("whale")
        await expectCode(.transferUnknown) { _ = try await pool.state(of: "whale") }
        let stopped = Task.immediate { try await pool.end() }
        await pool.stop()
        await expectCode(.hostStopped) { _ = try await stopped.value }
    }

    private func uploadServer(_ received: Recording<[UInt8]>, stalls: Bool = false) throws -> TestServer {
        let isFirst = Mutex(stalls)
        return try TestServer(readsBodies: false) { request, connection in
            if isFirst.withLock({ first in
                defer { first = false }
                return first
            }) {
                return connection.stall()
            }
            guard let whole = connection.readBody(of: request) else { return }
            received.add(whole.body)
            connection.answer("201 Created", body: Array("\(request.method) \(request["Content-Type"] ?? "")".utf8))
        }
    }

    @Test func `bytes, files and forms are uploaded, and what the server says is kept`() async throws {
        let received = Recording<[UInt8]>(), server = try uploadServer(received), pool = try await fixture.pool()
        try Data(content).write(to: URL(filePath: fixture.path("source")))
        try await pool.begin(Transfer("bytes", upload: HTTPRequest("PUT", server.url(), body: content)))
        let state = try await pool.end(of: "bytes")
        #expect(state.phase == .succeeded && state.status == 201 && state.isUpload && state.progress == 1)
        // URLSession adds a media type.
        #expect(state.response?.starts(with: Array("PUT ".utf8)) == true)
        let file = HTTPRequest("PUT", server.url(), body: .file(fixture.path("source"), type: "text/plain"))
        try await pool.begin(Transfer("file", upload: file))
        #expect(try await pool.end(of: "file").response == Array("PUT text/plain".utf8))
        let form = HTTPBody.multipart([.text("title", "Moby-Dick"), .file("text", fixture.path("source"))])
        try await pool.begin(Transfer("form", upload: HTTPRequest("POST", server.url(), body: form)))
        #expect(try await pool.end(of: "form").phase == .succeeded)
        #expect(received.all[0] == content && received.all[1] == content)
        #expect(Data(received.all[2]).range(of: Data(content)) != nil)
    }

    @Test func `an upload that was paused begins anew, and says so`() async throws {
        let received = Recording<[UInt8]>(), server = try uploadServer(received, stalls: true)
        let pool = try await fixture.pool()
        let body = TransferFixture.content(8 << 20)
        try await pool.begin(Transfer("whale", upload: HTTPRequest("PUT", server.url(), body: body)))
        var requests = server.requests.makeAsyncIterator()
        _ = await requests.next()
        try await pool.state { $0.bytes > 0 }
        try await pool.pause("whale")
        #expect(try await pool.state(of: "whale").phase == .paused)
        try await pool.resume("whale")
        let state = try await pool.end()
        #expect(state.phase == .succeeded && state.restart == .upload)
        #expect(received.all == [body])
    }

    @Test func `a refused upload, and one whose file is gone, have failed`() async throws {
        let server = try TestServer { $1.answer("413 Content Too Large", body: Array("too large".utf8)) }
        let pool = try await fixture.pool()
        try await pool.begin(Transfer("a", upload: HTTPRequest("PUT", server.url(), body: content)))
        let state = try await pool.end(of: "a")
        #expect(state.phase == .failed && state.status == 413 && state.error?.httpStatus == 413)
        #expect(state.response == Array("too large".utf8))
        try await pool.begin(
            Transfer("b", upload: HTTPRequest("PUT", server.url(), body: .file(fixture.path("gone")))))
        #expect(try await pool.end(of: "b").error?.code == .networkBody)
    }
}
