import Backplane
import BackplaneTestKit
import Glibc
import TestFixtures
import Testing

@testable import BackplaneHost

/// The files that come with a plugin.
struct ResourceFolderTests {
    private let folder: TestFolder
    private let loads: LoadFolder

    init() throws {
        folder = try TestFolder()
        loads = try LoadFolder(in: folder.path + "/loads")
    }

    /// A library with these folders beside it, each with one file that holds the folder's name.
    private func library(_ name: String = "libShop.so", with folders: String...) throws -> LibraryFile {
        let path = try folder.write(LoadingFixture.library(), as: name)
        for name in folders {
            _ = try folder.makeFolder(name)
            _ = try folder.makeFolder(name + "/deep")
            try folder.write(Array(name.utf8), as: name + "/deep/name.txt")
        }
        return try LibraryFile.prepare(path, in: loads)
    }

    private func resources(_ library: LibraryFile, named name: String? = nil) throws -> Resources {
        return Resources(folder: try ResourceFolder.copy(besides: library, named: name))
    }

    @Test func `the folder that SwiftPM names after the library is copied with it`() throws {
        let library = try library(with: "app_Shop.resources", "app_Other.resources", "Shop.resources")
        let resources = try resources(library)
        #expect(try resources.data("deep/name.txt") == Array("app_Shop.resources".utf8))
        #expect(resources.folder?.hasPrefix(loads.path) == true)
    }

    @Test func `a folder that is gone when it is searched is an error, not a library without resources`() throws {
        let library = try library(with: "app_Shop.resources")
        let away = folder.path + "-away"
        try #require(rename(folder.path, away) == 0)
        defer { rename(away, folder.path) }
        let error = #expect(throws: BackplaneError.self) { try resources(library) }
        #expect(error?.code == .pluginUnreadable && error?.location == folder.path)
    }

    @Test func `two candidates are an error that the manifest settles`() throws {
        let library = try library(with: "app_Shop.resources", "old_Shop.resources")
        let error = #expect(throws: BackplaneError.self) { try resources(library) }
        #expect(
            error?.message
                == "`app_Shop.resources` and `old_Shop.resources` could both be the plugin's resources; choose one with `resources` in the manifest"
        )
        #expect(
            try resources(library, named: "old_Shop.resources").data("deep/name.txt")
                == Array("old_Shop.resources".utf8))
    }

    @Test func `the resources of a linked plugin are next to the program, named after its module`() throws {
        _ = try library(with: "app_Shop.resources", "app_Shopping.resources")
        #expect(try ResourceFolder.of(module: "Shop", in: folder.path) == folder.path + "/app_Shop.resources")
        #expect(try ResourceFolder.of(module: "Other", in: folder.path) == nil)
        _ = try folder.makeFolder("old_Shop.resources")
        let error = #expect(throws: BackplaneError.self) {
            try ResourceFolder.of(module: "Shop", in: folder.path)
        }
        #expect(
            error?.message
                == "`app_Shop.resources` and `old_Shop.resources` could both be the plugin's resources; remove the one that is left over"
        )
    }

    @Test func `a folder that the manifest names and that is not there is an error`() throws {
        let library = try library()
        let error = #expect(throws: BackplaneError.self) {
            try resources(library, named: "app_Shop.resources")
        }
        #expect(error?.code == .pluginUnreadable)
    }

    @Test func `a link among the files is refused, and nothing of the copy stays`() throws {
        let library = try library(with: "app_Shop.resources")
        _ = try folder.link("app_Shop.resources/passwords", to: "/etc/passwd")
        let error = #expect(throws: BackplaneError.self) { try resources(library) }
        #expect(error?.location == folder.path + "/app_Shop.resources/passwords")
        #expect(!FileContents.exists(library.copy + ".resources"))
    }

    @Test func `a plugin without resources fails every request for one`() throws {
        let resources = try resources(try library())
        #expect(resources.folder == nil)
        let error = #expect(throws: BackplaneError.self) { try resources.data("name.txt") }
        #expect(error?.code == .resourceMissing)
    }

    @Test(arguments: ["", "/etc/passwd", "../secret", "deep/../../secret", "missing", "deep\u{0}"])
    func `only files of the folder are reached`(name: String) throws {
        let resources = try resources(try library(with: "app_Shop.resources"))
        let error = #expect(throws: BackplaneError.self) { try resources.data(name) }
        #expect(error?.code == .resourceMissing)
    }
}
