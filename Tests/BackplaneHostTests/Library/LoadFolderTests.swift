import Backplane
import BackplaneTestKit
import Foundation
import Glibc
import TestFixtures
import Testing

@testable import BackplaneHost

@Suite(.timeLimit(.minutes(10)))
struct LoadFolderTests {
    private let folder: TestFolder
    private var parent: String { folder.path + "/loads" }

    init() throws {
        folder = try TestFolder()
    }

    private func hosts() throws -> [String] {
        try FileTree.names(in: parent).filter { $0.hasPrefix("host-") }
    }

    private func refusal(in parent: String) -> BackplaneError? {
        let error = #expect(throws: BackplaneError.self) { try LoadFolder(in: parent) }
        #expect(error?.code == .loadFolderUnusable)
        #expect(error?.message.contains("`HostOptions.loadFolder`") == true)
        return error
    }

    // MARK: Making

    @Test func `the folder and its parent are the user's alone`() throws {
        let loads = try LoadFolder(in: parent + "/deep")
        for path in [parent, parent + "/deep", loads.path] {
            let status = try FileStatus(at: path)
            #expect(status.kind == .folder && status.mode == 0o700 && status.owner == geteuid(), "\(path)")
        }
        #expect(FilePath.name(of: loads.path).hasPrefix("host-\(getpid())-"))
    }

    @Test func `a copy's name says plugin and generation, in letters that a line of text can bear`() throws {
        func name(_ library: String, _ plugin: String?, _ generation: Int) throws -> String {
            let loads = try LoadFolder(in: parent)
            return FilePath.name(
                of: LoadFolder.path(of: loads.newCopyPath(for: library), plugin: plugin, generation: generation))
        }
        #expect(try name("libBooks.so", "org.example.books", 3) == "1-org.example.books-generation-3-libBooks.so")
        #expect(try name("libBooks.so", nil, 1) == "1-generation-1-libBooks.so")
        #expect(try name("libBo\noks-é.so", "org/ä", 1) == "1-org___-generation-1-libBo_oks-__.so")
        #expect(
            try name(String(repeating: "x", count: 250) + ".so", String(repeating: "y", count: 500), .max).utf8.count
                <= 255)
    }

    @Test func `removing takes everything in it, and links only themselves`() throws {
        let kept = try folder.write([1], as: "kept")
        let loads = try LoadFolder(in: parent)
        try #require(mkdir(loads.path + "/resources", 0o700) == 0)
        try folder.write([1], as: "loads/\(FilePath.name(of: loads.path))/resources/a")
        _ = try folder.link("loads/\(FilePath.name(of: loads.path))/link", to: folder.path)

        loads.remove()

        #expect(try hosts() == [])
        #expect(FileContents.exists(kept))
    }

    @Test func `a folder that is a link is refused`() throws {
        _ = try folder.makeFolder("elsewhere")
        #expect(try refusal(in: folder.link("loads", to: "elsewhere"))?.message.contains("a symbolic link") == true)
        #expect(
            refusal(in: parent + "/")?.message.contains("a symbolic link") == true, "a slash at the end changes nothing"
        )
        #expect(try FileTree.names(in: folder.path + "/elsewhere") == [])
    }

    @Test(arguments: [0o777, 0o770, 0o702, 0o1777] as [UInt32])
    func `a folder that others may write to is refused`(mode: UInt32) throws {
        #expect(
            try refusal(in: folder.makeFolder("loads", mode: mode))?.message.contains(String(mode, radix: 8)) == true)
    }

    @Test func `a folder from which nothing may be executed is refused`() throws {
        let path = try folder.makeFolder("loads")
        guard mount("tmpfs", path, "tmpfs", UInt(MS_NOEXEC), nil) == 0 else {
            try Test.cancel("this user may not mount a file system to try it on")
        }
        defer { umount2(path, Int32(MNT_DETACH)) }
        try #require(chmod(path, 0o700) == 0)
        #expect(refusal(in: path)?.message.contains("noexec") == true)
    }

    // MARK: Sweeping

    @Test func `what a killed host left is removed, and a living host's folder is not`() throws {
        let (living, killed) = try (
            OtherHost(in: folder, "0000000000000001"), OtherHost(in: folder, "0000000000000002")
        )
        let own = try LoadFolder(in: parent)
        #expect(FileContents.exists(living.path) && FileContents.exists(killed.path), "both live")

        killed.kill()
        let next = try LoadFolder(in: parent)

        #expect(!FileContents.exists(killed.path))
        #expect(FileContents.exists(living.path + "/lock"))
        #expect(FileContents.exists(own.path + "/lock") && FileContents.exists(next.path + "/lock"))
    }

    @Test func `what is not certainly a host's folder is left alone`() throws {
        _ = try folder.makeFolder("loads")
        let names = [
            "host", "host-1", "host-1-2", "host-x-0123456789abcdef", "host-1-0123456789abcdeg",
            "host-1-0123456789abcdef-2", "other",
        ]
        for name in names { _ = try folder.makeFolder("loads/" + name) }
        try folder.write(as: "loads/host-2-0123456789abcdef")
        _ = try folder.link("loads/host-3-0123456789abcdef", to: folder.path)

        _ = try LoadFolder(in: parent)

        for name in names + ["host-2-0123456789abcdef", "host-3-0123456789abcdef"] {
            #expect(FileContents.exists(FilePath.join(parent, name)), "\(name)")
        }
    }

    @Test func `hosts that start at once do not remove each other`() async throws {
        let parent = parent
        // A race that is open shows itself in some rounds, not in each.
        for _ in 0..<20 {
            let folders = try await withThrowingTaskGroup(of: LoadFolder.self) { group in
                for _ in 0..<30 { group.addTask { @concurrent in try LoadFolder(in: parent) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(folders.map(\.path)).count == 30)
            #expect(folders.allSatisfy { FileContents.exists($0.path + "/lock") })
            for folder in folders { folder.remove() }
        }
    }
}

/// A process that holds its folder as a host does, and only that.
private final class OtherHost {
    let path: String
    private let process = Process()
    /// The process ends by itself when this end is closed.
    private let input = Pipe()

    init(in folder: TestFolder, _ random: String) throws {
        if !FileContents.exists(folder.path + "/loads") { _ = try folder.makeFolder("loads") }
        path = try folder.makeFolder("loads/host-1-" + random)
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "umask 077; exec 9>\"$0\"; flock 9 && printf r && exec cat", path + "/lock"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard try output.fileHandleForReading.read(upToCount: 1) == Data("r".utf8) else { throw SystemError(EPIPE) }
    }

    deinit {
        kill()
    }

    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

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

    @Test func `the folders are not listed for each of very many that are not there`() throws {
        try folder.write(as: "second/libBookshelf.so")
        let locator = locator
        let suggested = (0..<25).map { _ in
            let error = #expect(throws: BackplaneError.self) { try locator.locate("Bookshelves") }
            return error?.message.contains("did you mean") == true
        }
        #expect(suggested == Array(repeating: true, count: 20) + Array(repeating: false, count: 5))
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
