import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Glibc
import TestFixtures
import Testing

@testable import BackplaneHost

/// `file:` URLs are held to the manifest's folder.
@Suite(.timeLimit(.minutes(5)))
struct FileExecutorTests {
    private let folder: TestFolder
    private let files: FileExecutor

    init() throws {
        folder = try TestFolder()
        _ = try folder.makeFolder("served")
        _ = try folder.makeFolder("served/deep")
        try folder.write(Array("outside".utf8), as: "secret")
        try folder.write(Array("a".utf8), as: "served/a.txt")
        try folder.write(Array("b".utf8), as: "served/deep/b é%.txt")
        files = FileExecutor(folder: folder.path + "/served")
    }

    private func get(_ url: String) async throws -> HTTPResponse { try await files.execute(HTTPRequest("GET", url)) }

    @Test(arguments: [
        "file:a.txt", "file:///a.txt", "file:/a.txt", "file:./a.txt", "FILE:a.txt", "file:a.txt?query",
        "file:a.txt#fragment", "file:%61.txt",
    ])
    func `a file in the folder is served`(url: String) async throws {
        #expect(
            try await get(url) == HTTPResponse(status: 200, headers: ["Content-Length": "1"], body: Array("a".utf8)))
    }

    @Test(arguments: ["file:deep/b%20%C3%A9%25.txt", "file:deep//b%20%C3%A9%25.txt"])
    func `one below it too, its name percent-encoded`(url: String) async throws {
        #expect(try await get(url).body == Array("b".utf8))
    }

    @Test(arguments: [
        "file:../secret", "file:deep/../../secret", "file:%2e%2e/secret", "file:%2E%2e%2Fsecret",
        "file:deep/%2e%2e/%2e%2e/secret", "file:///../secret",
    ])
    func `no way up leads out`(url: String) async throws {
        do {
            // Whoever resolves the dots first looks for `secret` in the folder itself, where there is none.
            #expect(try await get(url).status == 404)
        } catch let error as BackplaneError {
            #expect(error.code == .networkRefused)
            #expect(error.location == url)
        }
    }

    @Test func `an absolute path begins at the folder`() async throws {
        #expect(try await get("file:///etc/passwd").status == 404)
        #expect(try await get("file:" + folder.path + "/secret").status == 404)
    }

    @Test func `a symbolic link is refused, wherever in the path it stands`() async throws {
        _ = try folder.link("served/link", to: "a.txt")
        _ = try folder.link("served/up", to: "..")
        for url in ["file:link", "file:up/secret", "file:up"] {
            #expect(await error { try await get(url) }?.code == .networkRefused, "\(url)")
        }
    }

    @Test func `what is not there and what is no file are not found`() async throws {
        try #require(mkfifo(folder.path + "/served/pipe", 0o600) == 0)
        for url in [
            "file:none", "file:deep", "file:deep/", "file:none/a.txt", "file:a.txt/b", "file:pipe", "file:a%00.txt",
        ] {
            do { #expect(try await get(url).status == 404, "\(url)") } catch let error as BackplaneError {
                #expect(error.code == .networkRefused, "\(url)")
            }
        }
    }

    @Test func `a file of any size is read as it is asked for, and collected up to the limit`() async throws {
        let path = try folder.write(as: "served/large")
        try #require(truncate(path, 1 << 40) == 0)
        #expect(await error { try await get("file:large") }?.code == .networkTooLarge)
        let response = try await files.open(HTTPRequest("GET", "file:large"), HTTPOptions())
        #expect(response.contentLength == 1 << 40)
        var body = response.body.makeAsyncIterator()
        #expect(try await body.next()?.allSatisfy { $0 == 0 } == true)
        try #require(truncate(path, 0) == 0)
        #expect(await error { try await body.next() }?.code == .networkFile, "it was shortened meanwhile")
        #expect(try await get("file:large").body == [])
    }

    @Test func `HEAD has the length and no body; other methods are not allowed`() async throws {
        #expect(try await files.execute(HTTPRequest("HEAD", "file:a.txt")).body == [])
        for method in ["POST", "PUT", "DELETE", "brew", ""] {
            let response = try await files.execute(HTTPRequest(method, "file:a.txt", body: [1]))
            #expect(response.status == 405)
            #expect(response.headers["allow"] == "GET, HEAD")
        }
    }

    @Test func `a manifest that is no file has none to serve`() async throws {
        #expect(
            await error { try await FileExecutor(folder: nil).execute(HTTPRequest("GET", "file:a.txt")) }?.code
                == .networkRefused)
    }
}
