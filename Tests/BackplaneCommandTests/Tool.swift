import Foundation
import Glibc
import TestFixtures
import Testing

/// The executable `backplane` as a process, with folders of its own that are gone with the test.
final class Tool: Sendable {
    /// How a run of it ended.
    struct Outcome: Sendable {
        var status: Int32
        var output: String
        var errors: String
    }

    let folder: String
    private let program: String
    var loads: String { folder + "/loads" }
    var data: String { folder + "/data" }

    /// - Parameter program: the executable, if it is not the one of this build.
    init(of program: String = BuiltProducts.folder + "/backplane") throws {
        self.program = program
        let url = FileManager.default.temporaryDirectory.appending(
            path: "backplane-command-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        folder = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Where hosts listen: nowhere that those of other tests do.
    var sockets: String { folder + "/backplane" }

    /// Runs a command that makes a host, to its end.
    func run(_ command: String, _ arguments: String..., input: String? = nil) async throws -> Outcome {
        try await start([command] + arguments + ["--data", data, "--load-folder", loads], input: input).end()
    }

    /// Runs it with these arguments and no others.
    func plain(_ arguments: String...) async throws -> Outcome {
        try await start(arguments).end()
    }

    func start(_ arguments: [String], input: String? = nil) throws -> RunningTool {
        try RunningTool(
            arguments, of: program, input: try input.map { try write($0, as: "input") },
            environment: ["XDG_RUNTIME_DIR": folder])
    }

    /// Starts `backplane run` and waits until it says that everything is up.
    func startRun(_ arguments: String...) async throws -> RunningTool {
        let tool = try start(["run"] + arguments + ["--data", data, "--load-folder", loads])
        try #require(await tool.says("up;"), "\(tool.output)\(tool.errors)")
        return tool
    }

    /// Writes a file and returns its path.
    @discardableResult
    func write(_ text: String, as name: String) throws -> String {
        let path = folder + "/" + name
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// Writes a variant of the library that does wrong, and returns its path.
    ///
    /// - Parameter settings: what it does (`Tests/Plugins/Hostile/Library`).
    @discardableResult
    func writeHostile(_ settings: [String: String] = [:], id: String? = nil, as name: String = "libHostile.so") throws
        -> String
    {
        let path = folder + "/" + name
        try #require(FileContents.write(FixtureLibrary.bytes("Hostile", id: id, settings: settings), to: path))
        return path
    }

    /// The folders of hosts that are there now.
    func loadFolders() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: loads)) ?? []).filter { $0.hasPrefix("host-") }.sorted()
    }

    /// The manifests of the example.
    static let manifests = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../manifests")
        .standardizedFileURL.path
    static let almanac = manifests + "/almanac.json"
    static let almanacList = manifests + "/almanac.plist"
}

// MARK: Applications that tests run

extension Tool {
    /// Copies the example whose network service is a definition, with its libraries, to a folder of its own.
    ///
    /// - Returns: The paths of the manifest and of the definition.
    func copyDefinedBookshelf() throws -> (manifest: String, definition: String) {
        let app = folder + "/app", files = FileManager.default
        try files.createDirectory(atPath: app + "/definitions", withIntermediateDirectories: true)
        var manifest = try String(contentsOfFile: Self.manifests + "/bookshelf-definition.json", encoding: .utf8)
        for name in ["Bookshelf", "FlatBooks"] {
            let library = "\(app)/lib\(name).so"
            try files.copyItem(atPath: "\(BuiltProducts.folder)/lib\(name).so", toPath: library)
            manifest.replace("\"library\": \"\(name)\"", with: "\"library\": \"\(library)\"")
        }
        let resources = "backplane_Bookshelf.resources"
        try files.copyItem(atPath: "\(BuiltProducts.folder)/\(resources)", toPath: "\(app)/\(resources)")
        let definition = app + "/definitions/Books.json"
        try files.copyItem(atPath: Self.manifests + "/definitions/Books.json", toPath: definition)
        return (try write(manifest, as: "app/app.json"), definition)
    }
}

extension Tool {
    /// Puts an edition of the fixture with screens in the place of the one that is there, in one step.
    func writeHarbour(edition: Int) throws {
        let bytes = try FixtureLibrary.bytes("Screens\(edition)")
        try #require(FileContents.write(bytes, to: folder + "/libScreens.so"))
    }

    /// Writes a manifest of the first edition, and returns its path.
    func writeHarbourManifest(screens: String? = #"{"root": "harbour.ships"}"#) throws -> String {
        try writeHarbour(edition: 1)
        let section = screens.map { #", "screens": \#($0)"# } ?? ""
        return try write(
            """
            {"manifestVersion": 1, "plugins": [{"library": "\(folder)/libScreens.so"}],
             "managers": {"Harbour": {}}\(section)}
            """, as: "m.json")
    }
}

extension Tool {
    /// Starts `backplane run` in a mount namespace of its own, after a command that mounts something there.
    ///
    /// The test is cancelled where it may not mount.
    func startRun(_ manifest: String, after mounting: String) async throws -> RunningTool {
        let namespace = geteuid() == 0 ? ["-m"] : ["-m", "-r"]
        let probe = try RunningTool(
            namespace + ["mount", "-t", "tmpfs", "none", folder], of: "/usr/bin/unshare", input: nil)
        guard await probe.end().status == 0 else {
            try Test.cancel("the right to mount in a namespace is needed")
        }
        let running = try RunningTool(
            namespace + [
                "sh", "-ec", mounting + #"; exec "$@""#, "sh", BuiltProducts.folder + "/backplane", "run", manifest,
            ]
                + ["--data", data, "--load-folder", loads], of: "/usr/bin/unshare", input: nil,
            environment: ["XDG_RUNTIME_DIR": folder])
        try #require(await running.says("up;"), "\(running.output)\(running.errors)")
        return running
    }
}

/// A plugin in C in several editions: its manager says which it is and how often it was asked to count.
enum EditionLibrary {
    static let id = "org.example.edition"

    /// Writes an edition to `folder/name` and returns its path.
    ///
    /// - Parameters:
    ///   - manager: another class name, and in small letters the end of another id.
    ///   - className: a class name of its own, which the id does not follow.
    ///   - settings: what else is different (`Tests/Plugins/FixturesInC/edition.c`).
    @discardableResult
    static func write(
        _ edition: Int, of manager: String = "Edition", to folder: String, as name: String = "libEdition.so",
        className: String? = nil, settings: [String: String] = [:]
    ) throws -> String {
        let path = folder + "/" + name
        let bytes = try FixtureLibrary.bytes(
            id: "org.example.\(manager.lowercased())", version: "\(edition).0.0",
            settings: settings.merging(["Edition": className ?? manager]) { own, _ in own })
        guard FileContents.write(bytes, to: path) else { throw CocoaError(.fileWriteUnknown) }
        return path
    }

    /// A manifest with one manager of it.
    static let manifest = manifest("Edition")

    /// A manifest with a manager of each of such libraries.
    static func manifest(_ names: String...) -> String {
        let plugins = names.map { #"{"library": "\#($0)"}"# },
            managers = names.map { #""\#($0)": {"className": "\#($0)"}"# }
        return
            #"{"manifestVersion": 1, "plugins": [\#(plugins.joined(separator: ", "))], "managers": {\#(managers.joined(separator: ", "))}}"#
    }
}
