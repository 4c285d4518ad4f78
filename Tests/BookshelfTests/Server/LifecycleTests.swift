#if Engines
@testable import BookshelfServer
import Foundation
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LifecycleTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal ends the server in order`(signal: Int32) async throws {
        try await RunningServer.run { server in
            kill(server.identifier, signal)
            #expect(await server.end() == 0)
            let rest = try server.restOfOutput()
            #expect(rest == "")
        }
    }

    @Test func `an open event stream does not hold it up, and is ended`() async throws {
        try await RunningServer.run { server in
            var events = try EventListener.events(of: server).makeAsyncIterator()
            #expect(await events.next() != nil)
            kill(server.identifier, SIGTERM)
            #expect(await server.end() == 0)
            #expect(await events.next() == nil)
        }
    }

    @Test func `a late answer does not hold it up`() async throws {
        try await RunningServer.run("--delay", "600000") { server in
            let connection = try RawConnection(to: server)
            connection.send("GET /v1/books/walden HTTP/1.1", "Host: localhost", "", "")
            kill(server.identifier, SIGTERM)
            #expect(await server.end() == 0)
        }
    }

    @Test func `a client that stopped reading or sending does not hold it up`() async throws {
        try await RunningServer.run { server in
            let reader = try await server.signIn()
            let bytes = Data(repeating: 0, count: 32 << 20)
            #expect(try await server.send("PUT", "/v2/files/large", reader, bytes: bytes).status == 201)
            let download = try RawConnection(to: server)
            download.send("GET /v2/files/large HTTP/1.1", "Host: localhost", "", "")
            #expect(download.receive().hasPrefix("HTTP/1.1 200 "))
            let upload = try RawConnection(to: server)
            let token = try #require(reader["Authorization"])
            upload.send(
                "PUT /v2/files/other HTTP/1.1", "Host: localhost", "Authorization: \(token)", "Content-Length: 9", "",
                "ab")
            let idle = try RawConnection(to: server)
            idle.send("GET /v1/boo")
            kill(server.identifier, SIGTERM)
            #expect(await server.end() == 0)
        }
    }

    @Test func `it ends with its standard input if that is requested`() async throws {
        try await RunningServer.run { server in
            try server.closeInput()
            #expect(await server.end() == 0)
        }
    }

    @Test func `its temporary folder goes with it`() async throws {
        try await RunningServer.run { server in
            let stored = try await server.send("PUT", "/v2/files/a", server.signIn(), body: "x")
            #expect(stored.status == 201)
            #expect(try server.temporaryFiles().count == 1)
            kill(server.identifier, SIGTERM)
            #expect(await server.end() == 0)
            #expect(try server.temporaryFiles() == [])
        }
    }

    @Test func `versions of removed files are not kept`() async throws {
        try await RunningServer.run { server in
            let reader = try await server.signIn()
            for text in ["first", "second", "third"] {
                _ = try await server.send("PUT", "/v2/files/a", reader, body: text)
            }
            let own = try #require(server.temporaryFiles().first)
            #expect(try server.temporaryFiles(in: own).count == 1)
        }
    }

    @Test func `it listens on 127.0.0.1 and nowhere else`() async throws {
        try await RunningServer.run { server in
            #expect(throws: Never.self) { try RawConnection(to: server) }
            #expect(throws: RawConnection.Refused.self) { try RawConnection(to: server, at: (127, 0, 0, 2)) }
        }
    }

    @Test func `answers come late when that is asked for`() async throws {
        try await RunningServer.run("--delay", "300") { server in
            let start = ContinuousClock.now
            let answer = try await server.send("GET", "/v1/books/walden")
            #expect(answer.status == 200)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
        }
    }

    @Test func `another catalogue is served instead`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "catalogue-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try JSONEncoder().encode([CatalogueTests.book("only")]).write(to: file)
        try await RunningServer.run("--catalogue", file.path()) { server in
            let books = try await server.send("GET", "/v1/books").decoded([FlatBookRoutes.FlatBook].self)
            #expect(books.map(\.id) == ["only"])
        }
    }
}
#endif
