import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

struct LibraryLocatorTests {
    private let folder: TestFolder
    private let places: [String]

    init() throws {
        folder = try TestFolder()
        places = try ["manifests", "first", "second", "bin"].map { [folder] in try folder.makeFolder($0) }
    }

    private var locator: LibraryLocator {
        LibraryLocator(manifestFolder: places[0], pluginPaths: [places[1], places[2]], executableFolder: places[3])
    }

    @Test func `a name is searched for next to the manifest, in each plugin path, then next to the executable`() throws
    {
        for place in places.reversed() {
            try folder.write(as: FilePath.name(of: place) + "/libBookshelf.so")
            #expect(try locator.locate("Bookshelf") == place + "/libBookshelf.so")
            #expect(try locator.locate("libBookshelf.so") == place + "/libBookshelf.so")
        }
    }

    @Test func `a failed look-up lists every place and why it failed`() throws {
        try folder.write(as: "file")
        let paths = [folder.path + "/file", places[1]]
        let locator = LibraryLocator(manifestFolder: places[0], pluginPaths: paths, executableFolder: places[3])
        let error = #expect(throws: BackplaneError.self) { try locator.locate("Bookshelf") }
        #expect(error?.code == .pluginNotFound)
        #expect(error?.message.contains("`Bookshelf`") == true)
        #expect(error?.message.contains("`HostOptions.pluginPaths`") == true)
        #expect(
            error?.causes.map(\.description) == [
                "\(places[0])/libBookshelf.so: plugin.not-found: No such file or directory",
                "\(folder.path)/file/libBookshelf.so: plugin.not-found: Not a directory",
                "\(places[1])/libBookshelf.so: plugin.not-found: No such file or directory",
                "\(places[0])/.build/debug/libBookshelf.so: plugin.not-found: No such file or directory",
                "\(places[3])/libBookshelf.so: plugin.not-found: No such file or directory",
            ])
    }

    @Test(arguments: ["manifests", "."])
    func `the libraries of a manifest in a package are those that the package has built`(package: String) throws {
        try folder.write(as: "bin/libBookshelf.so")
        #expect(try locator.locate("Bookshelf") == places[3] + "/libBookshelf.so")
        for name in [".build", ".build/debug"] { _ = try folder.makeFolder("\(package)/\(name)") }
        try folder.write(as: "\(package)/Package.swift")
        if package == "manifests" {
            let error = #expect(throws: BackplaneError.self) { try locator.locate("Bookshelf") }
            #expect(error?.causes.contains { $0.location?.hasPrefix(places[3]) == true } == false)
        }
        let built = try folder.write(as: "\(package)/.build/debug/libBookshelf.so")
        #expect(FilePath.absolute(try locator.locate("Bookshelf")) == FilePath.absolute(built))
    }

    @Test(arguments: [
        ("Bookshelves", "`Bookshelf`"), ("libBokshelf.so", "`libBookshelf.so`"), ("./libBookshel.so", nil),
    ])
    func `the nearest name among the libraries there is suggested`(wanted: String, nearest: String?) throws {
        try folder.write(as: "second/libBookshelf.so")
        try folder.write(as: "second/Bookshelve")
        let error = #expect(throws: BackplaneError.self) { try locator.locate(wanted) }
        let advice = nearest.map { "did you mean \($0)?" } ?? "build it, or correct the path"
        #expect(error?.message.hasSuffix("; \(advice)") == true, "\(error?.message ?? "")")
    }

    @Test func `the system's libraries are never found`() {
        #expect(throws: BackplaneError.self) { try locator.locate("m") }
        #expect(throws: BackplaneError.self) { try locator.locate("libc.so") }
    }

    @Test func `a path is that very file, relative to the manifest`() throws {
        _ = try folder.makeFolder("manifests/plugins")
        let path = try folder.write(as: "manifests/plugins/libBookshelf.so")
        #expect(try locator.locate("plugins/libBookshelf.so") == path)
        #expect(try locator.locate(path) == path)
        #expect(FileContents.exists(try locator.locate("../manifests/plugins/libBookshelf.so")))

        let error = #expect(throws: BackplaneError.self) { try locator.locate("other/libBookshelf.so") }
        #expect(error?.causes.map(\.location) == [places[0] + "/other/libBookshelf.so"])
    }

    @Test(arguments: [
        "", ".", "..", "plugins/Bookshelf", "plugins/", "/", ".so", "plugins/.so", "../x", "a\u{0}b", "a\u{0}/b.so",
    ])
    func `what is neither a name nor a path is refused`(library: String) {
        let error = #expect(throws: BackplaneError.self) { try locator.locate(library) }
        #expect(error?.code == .pluginNotFound)
        #expect(error?.causes == [])
        #expect(error?.message.contains("ends in `.so`") == true)
    }

    @Test func `a dangling link is found, so that it is refused with the reason and not passed over`() throws {
        let link = try folder.link("first/libBookshelf.so", to: "nowhere")
        try folder.write(as: "second/libBookshelf.so")
        #expect(try locator.locate("Bookshelf") == link)
    }

    // MARK: Manifests without plugins

    @Test func `every library with an identity is taken, by name, and nothing else`() throws {
        for name in ["second/libA.so", "first/libZ.so", "first/libB.so", "first/libB.so.1", "first/Plain.so"] {
            try folder.write(LoadingFixture.library(), as: name)
        }
        try folder.write(LoadingFixture.anonymousLibrary(), as: "first/libOther.so")
        try folder.write(Array("text".utf8), as: "first/libText.so")
        try folder.write(LoadingFixture.library().dropLast(100), as: "first/libShort.so")
        _ = try folder.makeFolder("first/libFolder.so")
        try #require(mkfifo(places[1] + "/libPipe.so", 0o600) == 0)

        let libraries = try LibraryLocator.libraries(in: [places[1], places[2], places[1]])

        #expect(libraries == [places[1] + "/libB.so", places[1] + "/libZ.so", places[2] + "/libA.so"])
        #expect(try FileTree.names(in: places[1]).filter { $0.hasSuffix(".ran") } == [], "looking ran code")
    }
}
