import BackplaneTestKit
import Foundation
import Testing

/// `--mock`, `--record` and `--replay`, of commands whose requests are answered by files, or recorded to one.
@Suite(.timeLimit(.minutes(5)))
struct SubstituteTests {
    private let tool: Tool
    private static let shelf = Tool.manifests + "/bookshelf.json"
    private static let mocks = Tool.manifests + "/mocks"

    init() throws { tool = try Tool() }

    @Test func `a request is answered by a mock, and one without a mock says which file is missing`() async throws {
        try FileManager.default.createDirectory(atPath: tool.folder + "/mocks", withIntermediateDirectories: false)
        try tool.write("[1]", as: "mocks/GET books.mock")
        let mocked = try await tool.plain("request", "http://books.test/books", "--mock", tool.folder + "/mocks")
        #expect(mocked.status == 0 && mocked.output == "[1]", "\(mocked)")
        let missing = try await tool.plain("request", "http://books.test/loans", "--mock", tool.folder + "/mocks")
        #expect(missing.status == 1 && missing.output == "" && missing.errors.contains("`GET loans.mock`"))
        let server = try TestServer { $1.answer("200 OK", body: Array("sent".utf8)) }
        let sent = try await tool.plain(
            "request", server.url("/loans"), "--mock", tool.folder + "/mocks", "--fall-through")
        #expect(sent.status == 0 && sent.output == "sent", "\(sent)")
    }

    @Test func `a request is recorded, and replayed without its server`() async throws {
        let cassette = tool.folder + "/cassette.json"
        let recorded: Tool.Outcome, url: String
        do {
            let server = try TestServer { $1.answer("200 OK", body: Array("a \($0.method)".utf8)) }
            url = server.url("/whale?token=planted")
            recorded = try await tool.plain("request", url, "--record", cassette)
        }
        let text = try String(contentsOfFile: cassette, encoding: .utf8)
        #expect(recorded.status == 0 && text.contains("/whale?token=REDACTED") && !text.contains("planted"), "\(text)")
        let replayed = try await tool.plain("request", url, "--replay", cassette)
        #expect(replayed.status == 0 && replayed.output == recorded.output, "\(replayed)")
        let other = try await tool.plain("request", url, "-X", "PUT", "--replay", cassette)
        #expect(other.status == 1 && other.errors.contains("network.mock"))
        try tool.write("{", as: "cassette.json")
        let broken = try await tool.plain("request", url, "--replay", cassette)
        #expect(broken.status == 1 && broken.errors.contains("cassette.json:1:"), "\(broken)")
    }

    @Test func `a request for a file is not recorded, which is logged`() async throws {
        try tool.write(#"{"manifestVersion": 1, "managers": {}}"#, as: "backplane.json")
        try tool.write("[1]", as: "books.json")
        let asked = try await tool.plain(
            "request", "file:books.json", "--manifest", tool.folder + "/backplane.json", "--data-folder", tool.data,
            "--record", tool.folder + "/cassette.json")
        #expect(asked.status == 0 && asked.output == "[1]", "\(asked)")
        #expect(asked.errors.contains("requests for files are not recorded in the cassette"), "\(asked)")
    }

    @Test func `the bookshelf runs without any server, and its calls are answered by the mocks`() async throws {
        let shelf = try await tool.startRun(Self.shelf, "--mock", Self.mocks)
        let lent = try await tool.plain(
            "call", "LibraryManager", "borrow", "\"moby-dick\"", "--running")
        #expect(lent.status == 0 && lent.output.contains("loan-1"), "\(lent)")
        shelf.signal(SIGTERM)
        #expect(await shelf.end().status == 0)
    }
}
