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

    // MARK: Ids

    @Test func `any text is an id, and none of them is a path`() async throws {
        let server = try FileServer(content), pool = try await fixture.pool()
        let ids = [
            "../../../etc/passwd", "/", ".", "..", "a/b/c", "a\0b", "\0", " ", "wal\u{301}e", "wál", "wa\u{301}l",
            "鯨", "🐋", "\r\n", "%2e%2e%2f", String(repeating: "x", count: 4_096), "CON", "-rf", "a'; DROP TABLE b;--",
        ]
        for (index, id) in ids.enumerated() { try await pool.begin(fixture.download(server.url(), id, to: "\(index)")) }
        for (index, id) in ids.enumerated() {
            let state = try await pool.end(of: id)
            #expect(state.phase == .succeeded && state.id.utf8.elementsEqual(id.utf8), "\(id.debugDescription)")
            #expect(try fixture.bytes("\(index)") == content)
        }
        #expect(fixture.names == (0..<ids.count).map { "\($0)" }.sorted())
        #expect(try await pool.transfers().states.count == ids.count, "texts of equal meaning are different ids")
        await expectCode(.transferRefused) { try await pool.begin(fixture.download(server.url(), "")) }
        await expectCode(.transferRefused) {
            try await pool.begin(fixture.download(server.url(), String(repeating: "x", count: 1 << 20 + 1)))
        }
        for id in ["", "missing"] {
            await expectCode(.transferUnknown) { try await pool.pause(id) }
            await expectCode(.transferUnknown) { _ = try await pool.states(of: id) }
            await expectCode(.transferUnknown) { try await pool.remove(id) }
        }
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

    @Test func `one that is removed and begun at the same time is there or not, and the pool stops`() async throws {
        let server = try FileServer(content), pool = try await fixture.pool()
        for round in 0..<20 {
            let transfer = fixture.download(server.url(), "whale", to: "\(round)")
            _ = try await pool.beginAgain(transfer)
            let removal = Task { try? await pool.remove("whale") }, begin = Task { try? await pool.begin(transfer) }
            _ = await (removal.value, begin.value)
            if let state = try? await pool.state(of: "whale") {
                #expect([.waiting, .running, .succeeded].contains(state.phase), "\(state)")
                try await pool.remove("whale")
            }
        }
        await pool.stop()
        #expect(try await pool.transfers().states.isEmpty)
    }

    @Test func `the states of a stopped pool end`() async throws {
        let server = try stallingServer(), pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url()))
        await pool.stop()
        var phases: [TransferState.Phase] = []
        for await state in try await pool.states(of: "whale") { phases.append(state.phase) }
        #expect(phases == [.waiting])
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

    @Test func `a digest that is expected later is checked, or refused`() async throws {
        let server = try stallingServer(), pool = try await fixture.pool()
        func download(_ sha256: [UInt8]?) -> Transfer {
            fixture.download(server.url(), "whale", to: "whale.epub", Transfer.Download(sha256: sha256))
        }
        let right = ContentDigest.sha256(of: content), wrong = right.map { $0 &+ 1 }
        try await pool.begin(download(wrong))
        try await pool.state { $0.bytes == 300_000 }
        await expectCode(.transferTaken) { try await pool.begin(download(right)) }
        try await pool.pause("whale")
        try await pool.begin(download(right))
        #expect(try await pool.end().phase == .succeeded)
        #expect(server.counts.ranges == ["", "bytes=300000-"])
        for same in [right, nil] { #expect(try await pool.begin(download(same)).phase == .succeeded) }
        await expectCode(.transferTaken) { try await pool.begin(download(wrong)) }
    }

    @Test func `an upload of another file is another transfer`() async throws {
        let server = try uploadServer(Recording(), stalls: true), pool = try await fixture.pool()
        func upload(_ name: String) throws -> Transfer {
            try Data(name.utf8).write(to: URL(filePath: fixture.path(name)))
            return Transfer("cover", .upload(HTTPRequest("PUT", server.url(), body: .file(fixture.path(name)))))
        }
        try await pool.begin(upload("one"))
        await expectCode(.transferTaken) { try await pool.begin(upload("other")) }
        #expect(try await pool.begin(upload("one")).phase == .running)
        await pool.stop()
    }

    @Test func `a transfer that is removed leaves the part to the one that has its target now`() async throws {
        let server = try FileServer(content) { reply, number in
            switch number {
            case 1: reply.status = "404 Not Found"
            case 2: reply.stall = 300_000
            default: break
            }
        }
        let pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url("/gone"), "first"))
        #expect(try await pool.end(of: "first").phase == .failed)
        try await pool.begin(fixture.download(server.url(), "second"))
        try await pool.state(of: "second") { $0.bytes == 300_000 }
        try await pool.pause("second")
        try await pool.remove("first")
        try await pool.resume("second")
        #expect(try await pool.end(of: "second").phase == .succeeded)
        #expect(server.counts.ranges == ["", "", "bytes=300000-"])
        #expect(try fixture.bytes() == content)
    }

    @Test func `what a pool cannot keep is refused before anything is sent`() async throws {
        let server = try FileServer(content), pool = try await fixture.pool()
        let post = HTTPRequest("POST", server.url())
        await expectCode(.transferRefused) { try await pool.begin(Transfer("a", .download(post, to: fixture.path()))) }
        var ranged = HTTPRequest("GET", server.url())
        ranged.headers["Range"] = "bytes=1-"
        await expectCode(.transferRefused) {
            try await pool.begin(Transfer("a", .download(ranged, to: fixture.path())))
        }
        let secret = server.url().replacing("http://", with: "http://ann:white@")
        await expectCode(.transferRefused) { try await pool.begin(fixture.download(secret)) }
        let stream = HTTPRequest("PUT", server.url(), body: .stream(AsyncStream<[UInt8]> { $0.finish() }))
        await expectCode(.transferRefused) { try await pool.begin(Transfer("a", .upload(stream))) }
        let large = HTTPRequest("PUT", server.url(), body: [UInt8](repeating: 0, count: TransferPool.bodyLimit + 1))
        await expectCode(.transferRefused) { try await pool.begin(Transfer("a", .upload(large))) }
        await expectCode(.networkFile) {
            try await pool.begin(Transfer("a", .download(HTTPRequest("GET", server.url()), to: "a/..")))
        }
        #expect(server.counts.requests == 0)
        #expect(try await pool.transfers().states.isEmpty)
    }

    // MARK: Pausing

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

    // MARK: Watching

    @Test func `whoever comes late is told the present state first, and everyone the last one`() async throws {
        let server = try stallingServer(), pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url()))
        try await pool.state { $0.bytes == 300_000 }
        var late = try await pool.states(of: "whale").makeAsyncIterator()
        #expect(await late.next()?.bytes == 300_000)
        let early = Task { try await pool.end() }
        try await pool.pause("whale")
        #expect(await late.next()?.phase == .paused)
        try await pool.resume("whale")
        #expect(try await early.value.phase == .succeeded)
        var last: TransferState?
        while let state = await late.next() { last = state }
        #expect(last?.phase == .succeeded)
        var finished = try await pool.states(of: "whale").makeAsyncIterator()
        #expect(await finished.next()?.phase == .succeeded)
        #expect(await finished.next() == nil)
    }

    @Test func `the sequence of a transfer that is removed ends`() async throws {
        let server = try stallingServer(), pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url()))
        let states = try await pool.states(of: "whale")
        try await pool.state { $0.bytes > 0 }
        try await pool.remove("whale")
        for await _ in states {}
        await expectCode(.transferUnknown) { _ = try await pool.state(of: "whale") }
        #expect(fixture.names == [])
        try await pool.begin(fixture.download(server.url()))
        #expect(try await pool.end().phase == .succeeded)
        try await pool.remove("whale")
        #expect(fixture.names == ["whale.epub"], "a finished file stays")
    }

    // MARK: Limits

    @Test func `no more run at once than the settings allow`() async throws {
        let server = try FileServer(TransferFixture.content(50_000))
        var options = TransferFixture.options
        (options.concurrent, options.concurrentPerHost) = (8, 3)
        let pool = try await fixture.pool(options: options)
        for number in 0..<40 {
            try await pool.begin(
                Transfer(
                    "\(number)", .download(HTTPRequest("GET", server.url("/\(number)")), to: fixture.path("\(number)")),
                    owner: "\(number % 4)"))
        }
        for number in 0..<40 { #expect(try await pool.end(of: "\(number)").phase == .succeeded) }
        #expect(server.counts.mostOpen <= 3 && server.counts.requests == 40)
    }

    @Test func `an owner with many leaves the others their turn`() async throws {
        let server = try FileServer([1])
        var options = TransferFixture.options
        options.concurrent = 1
        let pool = try await fixture.pool(options: options)
        let gate = try FileServer([1]) { reply, _ in reply.stall = 0 }
        try await pool.begin(fixture.download(gate.url(), "gate", to: "gate"))
        try await pool.state(of: "gate") { $0.phase == .running }
        for (owner, number) in [("many", 1), ("many", 2), ("many", 3), ("few", 4)] {
            try await pool.begin(
                Transfer(
                    "\(number)", .download(HTTPRequest("GET", server.url("/\(number)")), to: fixture.path("\(number)")),
                    owner: owner))
        }
        let urgent = HTTPRequest("GET", server.url("/5"))
        try await pool.begin(
            Transfer("5", .download(urgent, to: fixture.path("5")), owner: "many", priority: 1))
        try await pool.cancel("gate")
        for number in 1...5 { try await pool.end(of: "\(number)") }
        #expect(server.counts.targets == ["/5", "/4", "/1", "/2", "/3"])
    }

    @Test func `a hundred thousand that are finished cost a pool nothing, and can be read by pages and cleared`()
        async throws
    {
        let store = MemoryRecordStore(), count = 100_000
        let pool = try await fixture.pool(store)
        let server = try FileServer([1])
        // As the pool writes them; to make them by transfers would take minutes.
        try await pool.begin(fixture.download(server.url(), "0", to: "0"))
        try await pool.end(of: "0")
        await pool.stop()
        let state = try #require(
            try await store.read(.init(collection: "transfers", ids: ["0"]), in: TransferPool.namespace).records.first)
        let request = try #require(
            try await store.read(.init(collection: "requests", ids: ["0"]), in: TransferPool.namespace).records.first)
        let pieces = String(decoding: state.value, as: UTF8.self).components(separatedBy: "\"number\":1")
        try #require(pieces.count == 2)
        for start in stride(from: 1, to: count, by: 10_000) {
            try await store.write(
                (start..<min(start + 10_000, count)).flatMap { number -> [RecordChange] in
                    let text = "\(pieces[0])\"number\":\(number + 1)\(pieces[1])"
                    return [
                        .save(collection: "transfers", .init(id: "\(number)", value: Array(text.utf8))),
                        .save(collection: "requests", .init(id: "\(number)", value: request.value)),
                    ]
                }, in: TransferPool.namespace)
        }
        let again = try await fixture.pool(store)
        #expect(again.transfersInMemory == 0)
        try await again.begin(fixture.download(server.url("/new"), "new", to: "new"))
        #expect(try await again.end(of: "new").phase == .succeeded)
        try await again.resume("new")  // changes nothing, and waits until its state is stored
        #expect(try await again.state(of: "99999").phase == .succeeded)
        #expect(again.transfersInMemory <= 1)
        var cursor: TransferCursor?, found = 0
        repeat {
            let page = try await again.transfers(isOpen: false, limit: 5_000, after: cursor)
            (found, cursor) = (found + page.states.count, page.next)
        } while cursor != nil
        #expect(found == count + 1)
        #expect(try await again.clear() == count + 1)
        #expect(try await again.transfers().states.isEmpty)
        #expect(try await store.collections(in: TransferPool.namespace).allSatisfy { $0.count == 0 })
    }

    // MARK: Uploads

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
        try await pool.begin(Transfer("bytes", .upload(HTTPRequest("PUT", server.url(), body: content))))
        let state = try await pool.end(of: "bytes")
        #expect(state.phase == .succeeded && state.status == 201 && state.isUpload && state.progress == 1)
        // URLSession adds a media type.
        #expect(state.response?.starts(with: Array("PUT ".utf8)) == true)
        let file = HTTPRequest("PUT", server.url(), body: .file(fixture.path("source"), type: "text/plain"))
        try await pool.begin(Transfer("file", .upload(file)))
        #expect(try await pool.end(of: "file").response == Array("PUT text/plain".utf8))
        let form = HTTPBody.multipart([.text("title", "Moby-Dick"), .file("text", fixture.path("source"))])
        try await pool.begin(Transfer("form", .upload(HTTPRequest("POST", server.url(), body: form))))
        #expect(try await pool.end(of: "form").phase == .succeeded)
        #expect(received.all[0] == content && received.all[1] == content)
        #expect(Data(received.all[2]).range(of: Data(content)) != nil)
    }

    @Test func `an upload that was paused begins anew, and says so`() async throws {
        let received = Recording<[UInt8]>(), server = try uploadServer(received, stalls: true)
        let pool = try await fixture.pool()
        let body = TransferFixture.content(8 << 20)
        try await pool.begin(Transfer("whale", .upload(HTTPRequest("PUT", server.url(), body: body))))
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

    @Test func `an upload whose connection goes silent is sent again, if its method allows that`() async throws {
        let received = Recording<[UInt8]>(), server = try uploadServer(received, stalls: true)
        var options = TransferFixture.options
        (options.idleLimit, options.retry.attempts) = (.milliseconds(200), 1_000)
        let pool = try await fixture.pool(options: options)
        try await pool.begin(Transfer("put", .upload(HTTPRequest("PUT", server.url(), body: content))))
        #expect(try await pool.end(of: "put").phase == .succeeded)
        #expect(!received.all.isEmpty && received.all.allSatisfy { $0 == content })
        let posts = Recording<String>()
        let silent = try TestServer(readsBodies: false) { request, connection in
            posts.add(request.method)
            connection.stall()
        }
        try await pool.begin(Transfer("post", .upload(HTTPRequest("POST", silent.url(), body: content))))
        #expect(try await pool.end(of: "post").error?.code == .networkTimeout)
        #expect(posts.all.count <= 1)
    }

    @Test func `an upload that has failed may begin again with another file`() async throws {
        let received = Recording<[UInt8]>(), server = try uploadServer(received), pool = try await fixture.pool()
        func upload(_ name: String) -> Transfer {
            Transfer("cover", .upload(HTTPRequest("PUT", server.url(), body: .file(fixture.path(name)))))
        }
        try await pool.begin(upload("gone"))
        #expect(try await pool.end(of: "cover").error?.code == .networkBody)
        try Data(content).write(to: URL(filePath: fixture.path("there")))
        try await pool.begin(upload("there"))
        #expect(try await pool.end(of: "cover").phase == .succeeded)
        #expect(received.all == [content])
    }

    @Test func `an upload is sent again after a status that may pass`() async throws {
        let received = Recording<[UInt8]>()
        let server = try TestServer { request, connection in
            received.add(request.body)
            connection.answer(received.all.count < 3 ? "503 Service Unavailable" : "201 Created")
        }
        let pool = try await fixture.pool()
        try await pool.begin(Transfer("whale", .upload(HTTPRequest("PUT", server.url(), body: content))))
        #expect(try await pool.end().status == 201)
        #expect(received.all == [content, content, content])
    }

    @Test func `a refused upload, and one whose file is gone, have failed`() async throws {
        let server = try TestServer { $1.answer("413 Content Too Large", body: Array("too large".utf8)) }
        let pool = try await fixture.pool()
        try await pool.begin(Transfer("a", .upload(HTTPRequest("PUT", server.url(), body: content))))
        let state = try await pool.end(of: "a")
        #expect(state.phase == .failed && state.status == 413 && state.error?.httpStatus == 413)
        #expect(state.response == Array("too large".utf8))
        try await pool.begin(
            Transfer("b", .upload(HTTPRequest("PUT", server.url(), body: .file(fixture.path("gone"))))))
        #expect(try await pool.end(of: "b").error?.code == .networkBody)
    }
}
