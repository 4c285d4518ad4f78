import Backplane
import BackplaneDocuments
import BackplaneNetwork
import Foundation
import Testing

@testable import BackplaneDefinitions

/// Files that arguments name, in a program and inside a component.
@Suite(.timeLimit(.minutes(1)))
struct FileArgumentTests {
    /// A component's folder with a file `a.txt`, beside a file `b.txt` that is not in it.
    private final class Place {
        let root = FileManager.default.temporaryDirectory.appending(path: "files-\(UUID().uuidString)").path
        var folder: String { root + "/own" }

        init() throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data("AAA".utf8).write(to: URL(filePath: folder + "/a.txt"))
            try Data("BBBB".utf8).write(to: URL(filePath: root + "/b.txt"))
        }

        deinit { try? FileManager.default.removeItem(atPath: root) }

        func link(_ name: String, to target: String) throws {
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: target)
        }

        var files: FileArguments { FileArguments(folder: folder) }

        /// The content of the part that a file becomes.
        func content(_ path: String) async throws -> String {
            let body = HTTPBody.multipart([try files.part(FilePart("f", path: path))])
            return String(decoding: try await body.open().collect(upTo: 1 << 20), as: UTF8.self)
        }
    }

    @Test func `a path is relative to the component's folder`() async throws {
        let place = try Place()
        #expect(try await place.content("a.txt").contains("filename=\"a.txt\""))
        #expect(try await place.content(place.folder + "/a.txt").contains("AAA"))
        #expect(try await place.content(place.root + "/b.txt").contains("BBBB"), "a program's own code chose it")
    }

    @Test func `a link out of the folder is refused, and one inside is followed`() async throws {
        let place = try Place()
        try place.link("out.txt", to: "../b.txt")
        try place.link("up", to: "..")
        try place.link("in.txt", to: "a.txt")
        for path in ["out.txt", "up/b.txt", "../b.txt", place.folder + "/out.txt", place.folder + "/../b.txt"] {
            let error = try #require(throws: BackplaneError.self) { try place.files.part(FilePart("f", path: path)) }
            #expect(error.code == .fileRefused, "\(path)")
        }
        #expect(try await place.content("in.txt").contains("filename=\"in.txt\""))
    }

    @Test(arguments: ["none.txt", ".", "sub\0path"])
    func `a missing file, a folder and a zero byte are errors when the request is sent`(path: String) async throws {
        let place = try Place()
        let error = await #expect(throws: BackplaneError.self) { try await place.content(path) }
        #expect(error?.code == .networkBody || error?.code == .fileRefused)
    }

    @Test func `a described file has the size that it had, or is in the folder`() throws {
        let place = try Place(), outside = place.root + "/b.txt"
        func part(_ path: String, _ size: Int? = nil) throws(BackplaneError) -> HTTPPart? {
            var members: [String: DocumentValue] = ["path": .string(path)]
            members["size"] = size.map { .integer(Int64($0)) }
            return try place.files.part(.dictionary(members), of: "f")
        }
        #expect(try part("a.txt") != nil)
        #expect(try part("a.txt", 3) != nil)
        #expect(try part(outside, 4) != nil)
        #expect(throws: BackplaneError.self) { try part(outside) }
        #expect(throws: BackplaneError.self) { try part(outside, 5) }
        #expect(throws: BackplaneError.self) { try part(place.root + "/none", 5) }
        #expect(throws: BackplaneError.self) { try part(place.root, 5) }
        #expect(try place.files.part(["name": "no path"], of: "f") == nil)
    }

    @Test func `a program's paths are its own`() throws {
        let files = FileArguments(folder: nil)
        #expect(try files.part(["path": "/etc/hostname"], of: "f") != nil)
    }
}
