import Backplane
import Foundation

/// A new plugin in a separate package.
struct FreshPackage: Sendable {
    let path: String
    private static let name = "Probe"
    var manifest: String { path + "/backplane.json" }
    /// A folder that belongs to the plugin's target but that SwiftPM excludes.
    var data: String { path + "/Sources/Probe/data" }

    /// Prepares a package without writing it.
    ///
    /// - Parameter folder: The folder that will contain the package, created if missing.
    init(in folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = "\(folder)/\(Self.name)"
    }

    func write() async throws -> Duration {
        try await TimedProgram.time(nil, ["new", "package", path])
    }

    func build() async throws -> Duration {
        try await TimedProgram.time("swift", ["build", "--package-path", path])
    }

    /// Starts a host, calls the plugin once, and stops.
    func call() async throws -> Duration {
        let folders = [
            "--plugin-path", path + "/.build/debug", "--load-folder", path + "/.build/load", "--data",
            path + "/.build/data",
        ]
        return try await TimedProgram.time(nil, ["call", manifest, "ProbeManager", "greet", "\"Ada\""] + folders)
    }

    /// Adds the given number of files to the sources, ten in each folder.
    func fill(_ count: Int) throws {
        let description = path + "/Package.swift", text = try String(contentsOfFile: description, encoding: .utf8)
        let target = "name: \"Probe\", dependencies: [.product(name: \"Backplane\", package: \"backplane\")]"
        guard text.contains(target) else {
            throw BackplaneError(.componentFailed, "the package has no target `\(target)`", at: description)
        }
        try text.replacing(target, with: target + ", exclude: [\"data\"]").write(
            toFile: description, atomically: true, encoding: .utf8)
        for folder in 0..<(count / 10) {
            let path = "\(data)/\(folder)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for file in 0..<10 { try Data("\(file)".utf8).write(to: URL(filePath: "\(path)/\(file).txt")) }
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
