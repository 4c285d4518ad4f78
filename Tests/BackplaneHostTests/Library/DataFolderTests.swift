import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

struct DataFolderTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    private func data(_ manifest: String = "/srv/backplane.json") throws -> DataFolder {
        try DataFolder(in: folder.path + "/data", manifest: manifest)
    }

    @Test func `a component's folder is made on demand, private, and stays the same`() throws {
        let data = try data()
        #expect(!FileContents.exists(data.path), "a host without stored data leaves nothing behind")

        let books = try data.folder(named: "BookStore")

        #expect(books == data.path + "/BookStore")
        for path in [folder.path + "/data", data.path, books] { #expect(try FileStatus(at: path).mode == 0o700) }
        try Data("kept".utf8).write(to: URL(fileURLWithPath: books + "/file"))
        #expect(try self.data().folder(named: "BookStore") == books)
        #expect(FileContents.exists(books + "/file"))
    }

    @Test func `the manifest's folder says which it is, and never changes`() throws {
        // FNV-1a, computed apart from this implementation: a change would part users from their data.
        #expect(try data("/srv/backplane.json").path == folder.path + "/data/backplane.json-8a70366b2bf528f1")
    }

    @Test func `manifests of one name in two folders are kept apart, and one manifest by two spellings is not`() throws
    {
        #expect(try data("/srv/a/backplane.json").path != data("/srv/b/backplane.json").path)
        #expect(try data("/srv/a/../b/./backplane.json").path == data("/srv/b//backplane.json").path)
        #expect(try data("m.json").path == data(FileManager.default.currentDirectoryPath + "/m.json").path)
    }

    @Test func `a manifest with a name of any length has a folder`() throws {
        let name = String(repeating: "ü", count: 120) + ".json"
        _ = try data("/srv/" + name).folder(named: "A")
    }

    @Test(arguments: [
        ("BookStore", "BookStore"), ("Shop.Books-2_b", "Shop.Books-2_b"),
        ("../../etc", "..%2F..%2Fetc"),
        ("/etc", "%2Fetc"),
        ("a b", "a%20b"), ("a%20b", "a%2520b"), ("Bücher", "B%C3%BCcher"), ("a\u{0}b", "a%00b"), ("...", "..."),
        ("~", "%7E"), ("a\nb", "a%0Ab"),
    ])
    func `a name never leaves the folder, and no two share one`(name: String, expected: String) throws {
        let data = try data()
        let path = try data.folder(named: name)
        #expect(path == data.path + "/" + expected)
        #expect(try FileTree.names(in: data.path) == [expected])
    }

    @Test(arguments: ["", ".", ".."]) func `names of folders that exist already are refused`(name: String) throws {
        let error = #expect(throws: BackplaneError.self) { try data().folder(named: name) }
        #expect(error?.code == .dataFolderUnusable)
        #expect(error?.message.contains("`\(name)`") == true)
    }

    @Test func `the default follows the XDG specification`() throws {
        func path(_ environment: [String: String]) throws -> String {
            FilePath.folder(of: try DataFolder(manifest: "/m.json", environment: { environment[$0] }).path)
        }
        #expect(try path(["XDG_STATE_HOME": "/state", "HOME": "/home/me"]) == "/state/backplane")
        #expect(try path(["HOME": "/home/me"]) == "/home/me/.local/state/backplane")
        #expect(try path(["XDG_STATE_HOME": "state", "HOME": "/home/me"]) == "/home/me/.local/state/backplane")
        let error = #expect(throws: BackplaneError.self) { try path([:]) }
        #expect(error?.code == .dataFolderUnusable)
        #expect(error?.message.contains("`HostOptions.dataFolder`") == true)
    }
}
