import Foundation
import Testing

/// Processes that open the same store: one that runs, and commands beside it.
@Suite(.timeLimit(.minutes(10)))
struct SharedStoreTests {
    private let tool: Tool
    private let manifest: String

    init() throws {
        tool = try Tool()
        manifest = try tool.write(
            """
            {
              "manifestVersion": 1,
              "plugins": [{ "library": "Bookshelf" }, { "library": "BooksAPIv2" }],
              "managers": {
                "Library": {
                  "className": "LibraryManager",
                  "dataAccessController": { "className": "BookStore" },
                  "communicationController": {
                    "className": "LibraryCommunication",
                    "services": [
                      {
                        "className": "BooksService", "propertyName": "books",
                        "networkServiceConfiguration": { "baseURL": "file:" }
                      }
                    ]
                  }
                }
              }
            }
            """, as: "library.json")
    }

    /// What the network answers to any search: one book, whose title is longer than a page of the store.
    private func offer(_ number: Int) throws {
        let title = String(repeating: "volume \(number), ", count: 1_000) + "the end of \(number)."
        try tool.write(
            #"{"items": [{"id": "b", "title": "\#(title)", "authors": [], "year": 1900, "language": "en", "subjects": []}]}"#,
            as: "search")
    }

    private func search(_ number: Int, in running: RunningTool? = nil) async throws -> Tool.Outcome {
        let words = ["Library", "search", #"{"text": "number\#(number)"}"#]
        guard running == nil else { return try await tool.start(["call"] + words + ["--running"]).end() }
        return try await tool.start(
            ["call", manifest] + words + ["--data", tool.data, "--load-folder", tool.loads]
        ).end()
    }

    private func folder() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: tool.data)
        return "\(tool.data)/\(try #require(names.first))/@store"
    }

    @Test func `a damaged store that another process has open is left alone, and nothing is lost`() async throws {
        for number in 0..<8 {
            try offer(number)
            let outcome = try await search(number)
            try #require(outcome.status == 0, "\(outcome.errors)")
        }
        let running = try await tool.startRun(manifest), file = try folder() + "/store.sqlite"
        var bytes = try Data(contentsOf: URL(filePath: file))
        let end = try #require(bytes.firstRange(of: Data("the end of 3.".utf8))).lowerBound
        // The page before the last one of the title, which leads to that.
        let page = end / 4_096 * 4_096 - 4_096
        try #require(bytes[page..<page + 4_096].firstRange(of: Data("volume 3, volume 3".utf8)) != nil)
        bytes.replaceSubrange(page..<page + 4_096, with: Data(repeating: 0xAA, count: 4_096))
        let handle = try FileHandle(forWritingTo: URL(filePath: file))
        try handle.seek(toOffset: UInt64(page))
        try handle.write(contentsOf: bytes[page..<page + 4_096])
        try handle.close()

        // Without the network the record is read, and the damage found.
        try FileManager.default.removeItem(atPath: tool.folder + "/search")
        #expect(try await search(3, in: running).status == 1)
        try offer(100)
        let second = try await search(100)
        #expect(second.errors.contains("store.damaged"), "\(second.errors)")
        #expect(second.errors.contains("process \(running.number) (backplane)"), "\(second.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder())
        #expect(!names.contains { $0.contains(".damaged-") }, "\(names)")

        for number in 8..<12 {
            try offer(number)
            #expect(try await search(number, in: running).status == 0)
        }
        running.signal(SIGTERM)
        let ended = await running.end()
        #expect(ended.status == 0, "\(ended.errors)")

        // Without the network, what was acknowledged is in the store.
        try FileManager.default.removeItem(atPath: tool.folder + "/search")
        for number in [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11] {
            let outcome = try await search(number)
            #expect(outcome.output.contains("the end of \(number)."), "\(number): \(outcome.errors)")
        }
        #expect(try await search(3).status == 1, "the book on the page is what is lost")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder()).contains { $0.contains(".damaged-") })
    }

    @Test func `processes that create a store at the same time do not collide`() async throws {
        for round in 0..<3 {
            try offer(round)
            let words = ["call", manifest, "Library", "search", #"{"text": "number\#(round)"}"#]
            let data = tool.folder + "/data-\(round)"
            let tools = try (0..<6).map { _ in
                try tool.start(words + ["--data", data, "--load-folder", tool.loads])
            }
            for tool in tools {
                let outcome = await tool.end()
                #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
            }
        }
    }

    @Test func `a host says at its start that its store cannot be written`() async throws {
        try offer(0)
        _ = try await search(0)
        let store = try folder()
        // Root may write anywhere, but makes no file out of a folder.
        for name in try FileManager.default.contentsOfDirectory(atPath: store) {
            try FileManager.default.removeItem(atPath: "\(store)/\(name)")
        }
        try FileManager.default.createDirectory(atPath: store + "/store.sqlite", withIntermediateDirectories: false)
        let running = try await tool.startRun(manifest)
        #expect(await running.logs("the store cannot be used"), "\(running.errors)")
        #expect(await running.logs("store.unusable"), "\(running.errors)")
        running.signal(SIGTERM)
        #expect(await running.end().status == 0)
    }
}
