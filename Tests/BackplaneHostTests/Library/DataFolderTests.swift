import Backplane
import BackplaneTestKit
import Foundation
import Glibc
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

    @Test func `the folder of a component that uses the network never changes`() throws {
        let data = try data()
        func name(_ folder: NetworkFolderName) -> String { FilePath.name(of: data.networkFolder(named: folder)) }
        #expect(name(.place(manager: "Attic", label: "shelf")) == "Attic@shelf")
        #expect(name(.place(manager: "Attic@shelf", label: "a/b")) == "Attic%40shelf@a%2Fb")
        #expect(name(.namespace("Attic@shelf")) == "Attic%40shelf")
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

/// Where the data of renamed data access controllers is, decided without files.
struct DataPlacesTests {
    private func place(
        _ namespace: String, was: String? = nil, of places: DataPlaces = DataPlaces(), with others: Set<String> = [],
        there: Set<String> = []
    ) -> String {
        places.place(of: namespace, was: was, others: others.union([namespace]).contains, exists: there.contains)
    }

    private static let renamed: DataPlaces = {
        var places = DataPlaces()
        places.keep("Old", for: "New")
        return places
    }()

    @Test func `a namespace is its own place`() {
        #expect(place("Own") == "Own")
        #expect(place("Own", there: ["Own"]) == "Own")
        var places = DataPlaces()
        places.keep("Own", for: "Own")
        #expect(places.entries == [], "and that need not be recorded")
    }

    @Test func `a former namespace is continued where it has data and the new one has none`() {
        #expect(place("New", was: "Old", there: ["Old"]) == "Old")
        #expect(place("New", was: "Old") == "New", "there is nothing to continue")
        #expect(place("New", was: "Old", there: ["Old", "New"]) == "New", "it has data of its own")
    }

    @Test func `what was recorded holds without the former name`() {
        #expect(place("New", of: Self.renamed, there: ["Old", "New"]) == "Old")
        #expect(place("New", was: "Older", of: Self.renamed, there: ["Old", "Older"]) == "Old")
    }

    @Test func `a chain of names leads to the first place`() {
        #expect(place("Newer", was: "New", of: Self.renamed, there: ["Old"]) == "Old")
        var places = Self.renamed
        places.keep("Old", for: "Newer")
        #expect(place("Newer", of: places) == "Old")
        #expect(place("New", of: places) == "Old", "when it comes again alone")
        #expect(place("New", of: places, with: ["Newer"]) == "New", "when the other one has its place")
    }

    @Test func `the former name has its place again when it comes alone, and another one beside its successor`() {
        #expect(place("Old", of: Self.renamed, there: ["Old"]) == "Old")
        #expect(place("Old", of: Self.renamed, with: ["New"], there: ["Old"]) == "@Old@2")
        var places = Self.renamed
        places.keep("@Old@2", for: "Old")
        #expect(place("Old", of: places, with: ["New"]) == "@Old@2")
        #expect(place("New", of: places, with: ["Old"]) == "Old")
    }

    @Test func `a new place has a name that no namespace can have`() {
        // A controller that is called Old@2 has its data there.
        #expect(place("Old", of: Self.renamed, with: ["New", "Old@2"], there: ["Old", "Old@2"]) == "@Old@2")
        #expect(place("Old@2", of: Self.renamed, with: ["New", "Old"], there: ["Old", "Old@2"]) == "Old@2")
    }

    @Test func `a place that came back is recorded over the one that took it`() {
        var places = Self.renamed
        places.keep("Old", for: "Old")
        #expect(place("Old", of: places, with: ["New"], there: ["Old"]) == "Old")
        #expect(place("New", of: places, with: ["Old"], there: ["Old"]) == "New")
    }
}

@Suite(.timeLimit(.minutes(5)))
struct FilePathTests {
    @Test(arguments: [
        ("/a/b.so", "/a", "b.so"), ("b.so", ".", "b.so"), ("/b.so", "/", "b.so"), ("a/", "a", ""), ("", ".", ""),
        ("a/\u{301}b", "a", "\u{301}b"), ("/a/b/\u{301}", "/a/b", "\u{301}"),
    ])
    func `a path falls into folder and name`(path: String, folder: String, name: String) {
        #expect(FilePath.folder(of: path) == folder)
        #expect(FilePath.name(of: path) == name)
    }

    @Test(arguments: [("/a", "b", "/a/b"), ("/a/", "b", "/a/b"), ("/", "b", "/b"), ("/a", "/b", "/b"), ("", "b", "b")])
    func `a relative name is joined, an absolute one stands for itself`(folder: String, name: String, path: String) {
        #expect(FilePath.join(folder, name) == path)
    }

    @Test func `a path from the root on has one spelling`() {
        let current = FileManager.default.currentDirectoryPath
        for (path, absolute) in [
            ("/a//b/./c/", "/a/b/c"), ("/a/../../b", "/b"), ("/", "/"), ("", current), ("x/../y", current + "/y"),
            ("/\u{301}x/../y", "/y"),
        ] {
            #expect(FilePath.absolute(path) == absolute)
        }
    }
}

struct FileReplacementTests {
    @Test(
        arguments: [
            (0o600, 0o600), (0o640, 0o600), (0o644, 0o644), (0o664, 0o644), (0o604, 0o600), (0o777, 0o777),
            (0o4755, 0o755), (0o2751, 0o711),
        ] as [(UInt32, UInt32)])
    func `without its group a file gives neither that of this process nor everybody what they did not have`(
        mode: UInt32, without: UInt32
    ) {
        #expect(FileReplacement.withoutGroup(mode) == without)
    }

    @Test(arguments: [0o600, 0o640, 0o666, 0o755] as [UInt32])
    func `what takes a file's place has its permissions`(mode: UInt32) throws {
        let folder = try TestFolder(), path = try folder.write(Array("old".utf8), as: "file")
        try #require(chmod(path, mode) == 0)
        try FileReplacement.replace(path, FileStatus(at: path), with: Array("new".utf8))
        let status = try FileStatus(at: path)
        #expect(status.mode == mode && status.size == 3)
        #expect(try FileTree.names(in: folder.path) == ["file"])
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func `and its owner and its group`() throws {
        let folder = try TestFolder(), path = try folder.write(Array("old".utf8), as: "file")
        try #require(chown(path, 4_711, 4_712) == 0 && chmod(path, 0o640) == 0)
        try FileReplacement.replace(path, FileStatus(at: path), with: Array("new".utf8))
        let status = try FileStatus(at: path)
        #expect(status.owner == 4_711 && status.group == 4_712 && status.mode == 0o640)
    }

    @Test func `what is made takes nothing's place`() throws {
        let folder = try TestFolder(), path = try folder.write(Array("old".utf8), as: "file"),
            before = try FileStatus(at: path)
        #expect(throws: SystemError(EEXIST)) { try FileReplacement.create(path, with: Array("new".utf8), mode: 0o666) }
        #expect(try FileStatus(at: path) == before)
        #expect(try FileTree.names(in: folder.path) == ["file"])
    }
}
