import Foundation
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
